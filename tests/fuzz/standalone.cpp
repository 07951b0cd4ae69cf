// Runs a fuzz target without libFuzzer: every file of the corpus, then `-runs` inputs made from them by seeded chance.
// Compilers without coverage feedback (GCC) get the same entry point, corpus and limits this way; the fuzz preset links libFuzzer instead.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
using Chance = std::mt19937_64;

constexpr std::size_t max_input = 64U << 10U;

std::vector<Input> read_corpus(const std::vector<std::filesystem::path>& directories)
{
    std::vector<std::filesystem::path> paths;
    for (const auto& directory : directories)
        for (const auto& entry : std::filesystem::directory_iterator(directory)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Input> corpus{{}};
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return corpus;
}

std::size_t below(std::size_t end, Chance& chance)
{
    return std::uniform_int_distribution<std::size_t>{0, end - 1}(chance);
}

void flip_byte(Input& input, Chance& chance)
{
    if (!input.empty()) input[below(input.size(), chance)] = static_cast<std::uint8_t>(chance());
}

void cut(Input& input, Chance& chance)
{
    input.resize(below(input.size() + 1, chance));
}

void insert_bytes(Input& input, Chance& chance)
{
    const Input extra(1 + below(8, chance), static_cast<std::uint8_t>(chance()));
    input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(input.size() + 1, chance)), extra.begin(), extra.end());
}

void remove_bytes(Input& input, Chance& chance)
{
    const std::size_t from = below(input.size() + 1, chance);
    const std::size_t count = std::min(input.size() - from, 1 + below(8, chance));
    input.erase(input.begin() + static_cast<std::ptrdiff_t>(from), input.begin() + static_cast<std::ptrdiff_t>(from + count));
}

void splice(Input& input, const Input& other, Chance& chance)
{
    cut(input, chance);
    input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1, chance)), other.end());
}

Input mutated(const std::vector<Input>& corpus, Chance& chance)
{
    Input input = corpus[below(corpus.size(), chance)];
    for (std::size_t steps = 1 + below(4, chance); steps > 0; --steps) {
        switch (below(5, chance)) {
        case 0: flip_byte(input, chance); break;
        case 1: cut(input, chance); break;
        case 2: insert_bytes(input, chance); break;
        case 3: remove_bytes(input, chance); break;
        default: splice(input, corpus[below(corpus.size(), chance)], chance);
        }
    }
    input.resize(std::min(input.size(), max_input));
    return input;
}

}  // namespace

int main(int argc, char** argv)
{
    std::uint64_t runs = 0;
    std::uint64_t seed = 1;
    std::vector<std::filesystem::path> directories;
    for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
        if (argument.starts_with("-runs="))
            runs = std::strtoull(argument.data() + 6, nullptr, 10);
        else if (argument.starts_with("-seed="))
            seed = std::strtoull(argument.data() + 6, nullptr, 10);
        else if (!argument.starts_with("-"))
            directories.emplace_back(argument);
    }
    const std::vector<Input> corpus = read_corpus(directories);
    Chance chance{seed};
    for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
    for (std::uint64_t run = 0; run < runs; ++run) {
        const Input input = mutated(corpus, chance);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%zu inputs of the corpus and %llu mutations of them, seed %llu\n", corpus.size(), static_cast<unsigned long long>(runs),
        static_cast<unsigned long long>(seed));
    return 0;
}
