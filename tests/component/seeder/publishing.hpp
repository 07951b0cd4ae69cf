// A source directory and a directory store beside it, and the commands of the publishing side upon them. For tests of shoal_seeder.
#pragma once

#include "common/core/random.hpp"
#include "common/files/file.hpp"
#include "common/objectstore/catalog.hpp"
#include "seeder/publish.hpp"
#include "seeder/remove.hpp"
#include "seeder/verify.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::seeder {

namespace fs = std::filesystem;

inline std::string bytes_of(std::size_t size, unsigned seed)
{
    std::string bytes(size, '\0');
    Random random{seed};
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

class Publishing : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "shoal-publish-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = fs::canonical(name);
        fs::create_directories(root / "store");
        fs::create_directories(root / "src");
        options.source = (root / "src").string();
        options.store = "file://" + (root / "store").string();
        options.model = "m";
        options.threads = 2;
    }
    void TearDown() override { fs::remove_all(root); }

    void write(const std::string& path, std::string_view content, const std::string& below = "src") const
    {
        fs::create_directories((root / below / path).parent_path());
        std::ofstream{root / below / path, std::ios::binary} << content;
    }
    // What the command printed on stdout, or "error <code>: <message>".
    template <typename Command>
    static std::string printed(Command command)
    {
        testing::internal::CaptureStdout();
        const Result<void> done = command();
        const std::string out = testing::internal::GetCapturedStdout();
        return done ? out : "error " + std::to_string(static_cast<int>(done.error().code)) + ": " + done.error().text();
    }
    [[nodiscard]] std::string publish_now() const
    {
        return printed([this] { return publish(options, stop); });
    }
    // Publishes, and returns "sha256:…".
    [[nodiscard]] std::string published() const
    {
        std::string out = publish_now();
        EXPECT_THAT(out, testing::MatchesRegex("sha256:[0-9a-f]+\n"));
        out.pop_back();
        return out;
    }
    [[nodiscard]] std::string verified(const std::string& revision, const std::string& model = "m") const
    {
        VerifyOptions verification;
        verification.store = options.store;
        verification.model = model;
        verification.revision = revision;
        verification.threads = 2;
        return printed([&] { return verify(verification, stop); });
    }
    [[nodiscard]] std::string removed(const std::string& revision, const std::string& model = "m") const
    {
        return printed([&] { return remove({options.store, model, revision, {}, Ask::nobody, Dry::no, Output::text}, stop); });
    }
    // Every file below the store with its inode and time: what a write would change.
    [[nodiscard]] std::map<std::string, std::pair<std::uint64_t, std::int64_t>> store_state() const
    {
        std::map<std::string, std::pair<std::uint64_t, std::int64_t>> state;
        for (const auto& entry : fs::recursive_directory_iterator{root / "store"}) {
            const auto facts = files::state_of(entry.path()).value();
            state[entry.path().string()] = {facts.inode, entry.is_directory() ? 0 : facts.mtime_ns};
        }
        return state;
    }
    [[nodiscard]] std::size_t objects(const std::string& below) const
    {
        std::size_t count = 0;
        if (!fs::exists(root / "store" / below)) return 0;
        for (const auto& entry : fs::recursive_directory_iterator{root / "store" / below}) count += entry.is_regular_file() ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::vector<std::string> paths(const std::string& revision) const
    {
        const auto store = objectstore::open_store(options.store);
        const auto loaded = objectstore::load_manifest(*store.value(), parse_revision(revision).value());
        std::vector<std::string> found;
        for (const model::File& file : loaded.value().manifest.files) found.push_back(file.path);
        return found;
    }
    fs::path root;
    PublishOptions options;
    Stop stop;
};

}  // namespace shoal::seeder
