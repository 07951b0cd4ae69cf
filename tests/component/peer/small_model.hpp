// A model of a few files, its revision, and a temporary directory to stage and place it in. For tests of shoal_peer.
#pragma once

#include "common/crypto/block_tree.hpp"
#include "common/crypto/sha256.hpp"
#include "common/files/file.hpp"
#include "common/model/layers.hpp"
#include "peer/claim.hpp"
#include "peer/process_identity.hpp"
#include "peer/workspace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>

namespace shoal::peer {

inline std::string random_text(std::size_t size, std::uint64_t seed)
{
    std::mt19937_64 random{seed};
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

// Content by path, and all that a fetch of it must know.
class SmallModel {
public:
    explicit SmallModel(std::map<std::string, std::string> files) : content{std::move(files)}
    {
        model::Manifest manifest;
        manifest.model = "llama";
        std::vector<std::uint64_t> sizes;
        std::vector<const std::string*> texts;
        for (const auto& [path, text] : content) {
            manifest.files.push_back(
                {path, text.size(), text.empty() ? Digest{} : crypto::root_of_layer(layer_of(text), manifest.piece_size), crypto::sha256(as_bytes(text))});
            sizes.push_back(text.size());
            texts.push_back(&text);
        }
        std::map<Digest, std::vector<Digest>> layers;
        for (const std::string* text : texts)
            if (!text->empty()) layers[crypto::root_of_layer(layer_of(*text), manifest.piece_size)] = layer_of(*text);
        for (const auto& pack : model::pack_files(sizes, manifest.piece_size)) {
            std::string packed;
            for (const FileIndex file : pack) packed += *texts[file.value];
            manifest.packs.push_back({pack, packed.size(), crypto::root_of_layer(layer_of(packed), manifest.piece_size)});
            layers[manifest.packs.back().pieces_root] = layer_of(packed);
        }
        RevisionData found = prove_manifest(model::revision_of(model::encode(manifest)), "llama", model::encode(manifest), "test").value();
        model::Layers all;
        for (const model::SwarmFile& file : found.layout->files()) {
            const auto& layer = layers.at(file.pieces_root);
            all.insert(all.end(), layer.begin(), layer.end());
        }
        EXPECT_TRUE(prove_layers(found, model::encode(all), "test"));
        data = std::make_shared<const RevisionData>(std::move(found));
    }

    // A piece's bytes.
    [[nodiscard]] std::string piece(std::uint32_t index) const
    {
        std::string bytes;
        for (const model::Extent& extent : data->layout->extents(PieceIndex{index}, 0, data->layout->place(PieceIndex{index}).length))
            bytes += content.at(data->manifest.files[extent.file.value].path).substr(extent.offset, extent.length);
        return bytes;
    }

    std::map<std::string, std::string> content;
    std::shared_ptr<const RevisionData> data;

private:
    static std::vector<Digest> layer_of(const std::string& text)
    {
        std::vector<Digest> leaves(crypto::blocks_in(text.size()));
        crypto::hash_blocks(as_bytes(text), leaves);
        crypto::LayerBuilder builder{text.size(), model::min_piece_size};
        builder.add(leaves);
        return builder.take_layer();
    }
};

inline SmallModel usual_model()
{
    return SmallModel{{{"config.json", "{}"}, {"deep/er/vocab.txt", random_text(70'000, 1)}, {"empty", ""}, {"weights.bin", random_text(1'000'077, 2)}}};
}

// A directory that is removed at the end, and the errands of a fetch into it.
class PeerFiles : public ::testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "shoal-peer-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        top = pattern;
        site = site_at(top / "dest");
    }
    void TearDown() override { std::filesystem::remove_all(top); }

    std::shared_ptr<Claim> claim() const
    {
        Claimer claimer{site, boot_time, own_identity()};
        auto attempt = claimer.attempt();
        EXPECT_TRUE(attempt) << attempt.error().message;
        EXPECT_TRUE(attempt.value().claim) << "somebody has it: " << attempt.value().waiting_for;
        return std::shared_ptr<Claim>{std::move(attempt.value().claim)};
    }

    Errand errand(const SmallModel& model) const
    {
        Errand all;
        all.site = site;
        all.ask.model = "llama";
        all.ask.revision = model.data->revision;
        all.data = model.data;
        all.claim = claim();
        all.cancelled = cancelled;
        return all;
    }

    static std::string read(const Path& path)
    {
        auto text = files::read_small(path, 64U << 20U);
        return text ? text.value() : "(" + text.error().message + ")";
    }
    static void write(const Path& path, const std::string& text)
    {
        ASSERT_TRUE(files::make_directories(path.parent_path()));
        ASSERT_TRUE(files::write_atomically(path, text));
    }

    Path top;
    Site site;
    std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace shoal::peer
