#include "common/cli/options.hpp"
#include "common/cli/process.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace shoal::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// A program with one command, as all of ours are, in an environment that is put back afterwards.
class OptionsTest : public testing::Test {
protected:
    OptionsTest()
    {
        add_common(app, "shoal-x");
        CLI::App* fetch = app.add_subcommand("fetch", "Fetches");
        fetch->add_option("--model", model, "Name");
        CLI::Option* by_digest = fetch->add_option("--revision", revision, "Digest");
        fetch->add_option("--tag", tag, "Tag")->excludes(by_digest);
        fetch->add_flag("--json", json, "Events");
        add_check(add_list(*fetch, "--tracker", trackers, "Trackers"), [](const std::string& text) -> Result<void> {
            if (text.starts_with("http://")) return success();
            return failure(Errc::invalid, "'" + text + "': expected http://HOST");
        });
        add_size(*fetch, "--max-bytes", max_bytes, "Bytes");
        add_rate(*fetch, "--upload-limit", upload_limit, "Rate");
        add_duration(*fetch, "--timeout", timeout, "Time");
        add_count(*fetch, "--nodes", nodes, 1, 1000, "Nodes");
        app.add_subcommand("serve", "Serves")->add_option("--socket", socket, "Path");
        app.require_subcommand(1);
    }
    ~OptionsTest() override
    {
        for (const std::string& name : variables) ::unsetenv(name.c_str());
        std::filesystem::remove(config);
    }
    void set(const std::string& name, const std::string& value)
    {
        variables.push_back(name);
        ::setenv(name.c_str(), value.c_str(), 1);
    }
    std::string config_of(const std::string& text)
    {
        std::ofstream{config} << text;
        return config;
    }
    // What stderr got; the outcome is in `parsed`.
    std::string run(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin(), "shoal-x");
        std::vector<char*> argv;
        for (std::string& one : arguments) argv.push_back(one.data());
        testing::internal::CaptureStderr();
        testing::internal::CaptureStdout();
        parsed = parse(app, "shoal-x", static_cast<int>(argv.size()), argv.data());
        out = testing::internal::GetCapturedStdout();
        return testing::internal::GetCapturedStderr();
    }
    void expect_usage_error(const std::vector<std::string>& arguments, const std::string& says)
    {
        const std::string err = run(arguments);
        EXPECT_FALSE(parsed.run);
        EXPECT_EQ(parsed.exit_code, 2) << err;
        EXPECT_THAT(err, testing::AllOf(testing::StartsWith("shoal-x: "), HasSubstr(says), testing::EndsWith("\n")));
        EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    }

    CLI::App app{"Moves models"};
    std::string model = "default", revision, tag, socket, out;
    std::vector<std::string> trackers{"http://default"};
    bool json = false;
    std::uint64_t max_bytes = 0, upload_limit = 0, nodes = 1;
    std::chrono::milliseconds timeout = 1h;
    Parsed parsed;
    std::vector<std::string> variables;
    std::string config = testing::TempDir() + "shoal-options-" + std::to_string(::getpid()) + ".toml";
};

TEST_F(OptionsTest, AFlagWinsOverTheVariableOverTheFileOverTheDefault)
{
    const std::string file = config_of("model = \"file\"\nrevision = \"file\"\ntimeout = \"5s\"\njson = true\n");
    set("SHOAL_MODEL", "variable");
    set("SHOAL_REVISION", "variable");
    run({"fetch", "--config", file, "--model", "flag"});
    EXPECT_TRUE(parsed.run);
    EXPECT_EQ(model, "flag");
    EXPECT_EQ(revision, "variable");
    EXPECT_EQ(timeout, 5s);
    EXPECT_TRUE(json);
    EXPECT_THAT(trackers, ElementsAre("http://default"));
}

TEST_F(OptionsTest, AnEmptyVariableIsUnset)
{
    set("SHOAL_MODEL", "");
    set("SHOAL_MAX_BYTES", "");
    set("SHOAL_CONFIG", "");
    run({"fetch"});
    EXPECT_TRUE(parsed.run);
    EXPECT_EQ(model, "default");
}

TEST_F(OptionsTest, ListsAreRepeatedOrCommaSeparated_FromAnywhere)
{
    run({"fetch", "--tracker", "http://a,http://b", "--tracker", "http://c"});
    EXPECT_THAT(trackers, ElementsAre("http://a", "http://b", "http://c"));
}

TEST_F(OptionsTest, ListsComeFromVariablesAndArraysToo)
{
    set("SHOAL_TRACKER", "http://a,http://b");
    run({"fetch", "--config", config_of("tracker = [\"http://c\"]\n")});
    EXPECT_THAT(trackers, ElementsAre("http://a", "http://b"));
}

TEST_F(OptionsTest, ConfigMayBeNamedByItsVariable_AndHaveTablesForCommands)
{
    set("SHOAL_CONFIG", config_of("socket = \"/run/x\"\n[fetch]\nmodel = \"mine\"\n[serve]\nsocket = \"/run/y\"\n"));
    run({"fetch"});
    EXPECT_TRUE(parsed.run);
    EXPECT_EQ(model, "mine");
    EXPECT_EQ(socket, "");
}

TEST_F(OptionsTest, AValueFromBelowDoesNotConflictWithAFlag)
{
    set("SHOAL_REVISION", "sha256:x");
    run({"fetch", "--tag", "prod"});
    EXPECT_TRUE(parsed.run);
    EXPECT_EQ(tag, "prod");
    EXPECT_EQ(revision, "");
}

TEST_F(OptionsTest, ReadsQuantitiesAsPeopleWriteThem)
{
    run({"fetch", "--max-bytes", "64MiB", "--upload-limit=5Gbit", "--timeout", "200ms", "--nodes", "7"});
    EXPECT_EQ(max_bytes, 64U << 20U);
    EXPECT_EQ(upload_limit, 625'000'000U);
    EXPECT_EQ(timeout, 200ms);
    EXPECT_EQ(nodes, 7U);
}

TEST_F(OptionsTest, C80_RefusesNumbersThatAreNone)
{
    for (const char* wrong : {"0", "-1", "9223372036854775808", "18446744073709551616", "1e9", "", " 1", "1 ", "0x1"})
        expect_usage_error({"fetch", "--nodes", wrong}, "--nodes");
    for (const char* wrong : {"-1", "9223372036854775808", "1e9", "", "MiB", "1XB"}) expect_usage_error({"fetch", "--max-bytes", wrong}, "--max-bytes");
    for (const char* wrong : {"-1s", "1e9", "", "5 minutes", "0", "0s", "0.1ms"}) expect_usage_error({"fetch", "--timeout", wrong}, "--timeout");
    for (const char* wrong : {"0", "-1", "", "5parsec"}) expect_usage_error({"fetch", "--upload-limit", wrong}, "--upload-limit");
}

TEST_F(OptionsTest, AValueThatDoesNotPassItsCheckIsRefusedByFlag_FromAnywhere)
{
    expect_usage_error({"fetch", "--tracker", "http://a,nonsense"}, "--tracker: 'nonsense': expected http://HOST");
    expect_usage_error({"fetch", "--config", config_of("tracker = [\"http://c\", \"x\"]\n")}, "--tracker: 'x'");
    set("SHOAL_TRACKER", "http://a,nonsense");
    expect_usage_error({"fetch"}, "--tracker: 'nonsense'");
}

TEST_F(OptionsTest, UsageErrorsExitWith2AndOneLine)
{
    expect_usage_error({}, "subcommand is required");
    expect_usage_error({"fetch", "--foo"}, "--foo");
    expect_usage_error({"fetch", "surplus"}, "surplus");
    expect_usage_error({"fetch", "--revision", "x", "--tag", "y"}, "--tag");
    expect_usage_error({"fetch", "--model", "a", "--model", "b"}, "--model");
    expect_usage_error({"fetch", "--model"}, "--model");
    expect_usage_error({"fetch", "--log-level", "loud"}, "--log-level");
    expect_usage_error({"fetch", "--log-format", "xml"}, "--log-format");
    expect_usage_error({"fetch", "--bad\nflag"}, "--bad flag");
    expect_usage_error({"fetch", "--config", "/no/such.toml"}, "/no/such.toml");
    expect_usage_error({"fetch", "--config", config_of("modle = 1\n")}, "line 1: no flag is called 'modle'");
    expect_usage_error({"fetch", "--config", config_of("json = 3\n")}, "expected true or false");
    expect_usage_error({"fetch", "--config", config_of("version = true\n")}, "cannot stand in a config file");
    expect_usage_error({"fetch", "--config", config_of("timeout = \"x\"\n")}, "--timeout");
    set("SHOAL_JSON", "perhaps");
    expect_usage_error({"fetch"}, "SHOAL_JSON");
}

TEST_F(OptionsTest, HelpAndVersionExitWith0_WhateverElseIsWrong)
{
    set("SHOAL_VERSION", "1.2.3");  // images often carry one
    EXPECT_EQ(run({"--version"}), "");
    EXPECT_EQ(parsed.exit_code, 0);
    EXPECT_THAT(out, testing::StartsWith("shoal-x 0."));
    run({"fetch", "--help", "--config", "/no/such.toml"});
    EXPECT_EQ(parsed.exit_code, 0);
    EXPECT_THAT(out, testing::AllOf(HasSubstr("--max-bytes SIZE"), HasSubstr("--timeout DURATION")));
    EXPECT_FALSE(parsed.run);
}

TEST_F(OptionsTest, CommonFlagsMayStandBehindTheCommand)
{
    run({"fetch", "--log-level", "debug", "--log-format", "json"});
    EXPECT_TRUE(parsed.run);
}

TEST(Report, SaysTheErrorOnOneLine_AndGivesItsExitCode)
{
    testing::internal::CaptureStderr();
    EXPECT_EQ(report("shoal-x", Error{Errc::no_space, "fetch: /models\n: 1 GiB needed", "free some"}), 5);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "shoal-x: fetch: /models : 1 GiB needed; free some\n");
    testing::internal::CaptureStderr();
    EXPECT_EQ(report("shoal-x", Error{Errc::io, "x", ""}), 1);
    testing::internal::GetCapturedStderr();
}

TEST(Report, AlwaysSaysWhatToDo)
{
    for (int code = 1; code <= static_cast<int>(Errc::io); ++code) {
        testing::internal::CaptureStderr();
        report("shoal-x", Error{static_cast<Errc>(code), "it failed: on that: a cause", ""});
        EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::ContainsRegex("^shoal-x: it failed: on that: a cause; [a-z'].+\n$")) << code;
    }
    EXPECT_EQ(with_hint({Errc::io, "x", "its own"}).hint, "its own");
}

// How a child that printed to `path` ends, and what it says on stderr.
std::pair<int, std::string> end_of_process_writing_to(const char* path, int code)
{
    testing::internal::CaptureStderr();
    const pid_t child = ::fork();
    if (child == 0) {
        if (std::freopen(path, "w", stdout) == nullptr) ::_exit(99);
        std::printf("a result\n");
        ::_exit(end_process("shoal-x", code));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WEXITSTATUS(status), testing::internal::GetCapturedStderr()};
}

TEST(Process, AResultThatCannotBeWrittenIsNoSuccess)
{
    const auto [code, said] = end_of_process_writing_to("/dev/full", 0);
    EXPECT_EQ(code, 1);
    EXPECT_THAT(said, testing::AllOf(HasSubstr("shoal-x: cannot write the result: stdout: No space left on device; "), testing::EndsWith("\n")));
    EXPECT_EQ(end_of_process_writing_to("/dev/full", 6).first, 6);
    EXPECT_EQ(end_of_process_writing_to("/dev/null", 0), std::make_pair(0, std::string{}));
}

TEST(Process, AFileThatIsOpenedLaterIsNotTakenForAClosedStdout)
{
    const std::string path = testing::TempDir() + "shoal-process-" + std::to_string(::getpid());
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(STDOUT_FILENO);
        begin_process();
        const int opened = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
        std::printf("a result\n");
        ::close(STDERR_FILENO);
        ::_exit(opened == STDOUT_FILENO ? 99 : end_process("shoal-x", 0));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(std::filesystem::file_size(path), 0U);
    std::filesystem::remove(path);
}

TEST(Process, AWriteBeyondALimitOrIntoAClosedPipeIsAnErrorOfThatWrite)
{
    const pid_t child = ::fork();
    if (child == 0) {
        begin_process();
        std::raise(SIGPIPE);
        std::raise(SIGXFSZ);
        ::_exit(7);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Report, WritesTheTerminationMessageIntoAFileThatExists_4096BytesAtMost)
{
    const std::string path = testing::TempDir() + "shoal-termination-" + std::to_string(::getpid());
    write_termination_message(path.c_str(), "x");
    EXPECT_FALSE(std::filesystem::exists(path));
    std::ofstream{path} << std::string(9000, 'o');
    write_termination_message(path.c_str(), std::string(4095, 'x') + "\xc3\xa9");
    EXPECT_EQ(std::filesystem::file_size(path), 4095U);  // no half of a letter
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace shoal::cli
