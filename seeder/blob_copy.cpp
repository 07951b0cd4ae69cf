#include "seeder/blob_copy.hpp"

#include "common/crypto/content_hasher.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/keys.hpp"
#include "common/origin/pack_memory.hpp"

#include <algorithm>

namespace shoal::seeder {
namespace {

constexpr std::size_t copy_bytes = 4 * crypto::run_size;
constexpr unsigned far_readers = 32;  // of small parts

Error changed(const std::string& name, const Digest& expected, const Digest& found)
{
    return {Errc::integrity,
        "source changed while it was published: '" + model::printable(name) + "': expected digest " + to_hex(expected) + ", found " + to_hex(found),
        "publish it again when nobody writes to it"};
}

std::uint64_t size_of(const std::vector<Part>& parts)
{
    return parts.empty() ? 0 : parts.back().offset + parts.back().content.size;
}

Result<ConstBytes> read_part(const Part& part, MutableBytes out)
{
    BOOST_OUTCOME_TRY(open, part.content.open());
    if (!out.empty()) {
        BOOST_OUTCOME_TRY(open->read(0, out));
    }
    BOOST_OUTCOME_TRY(open->check());
    return ConstBytes{out};
}

}  // namespace

Result<void> read_parts(Crew& crew, const std::vector<Part>& parts, MutableBytes out, const PartSink& seen)
{
    const bool far = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.content.far; });
    return crew.run(
        parts.size(),
        [&](std::size_t i) -> Result<void> {
            auto read = read_part(parts[i], out.subspan(parts[i].offset, parts[i].content.size));
            if (read) crew.count(read.value().size());
            return seen(i, std::move(read));
        },
        far ? far_readers : 0);
}

Result<void> copy_file(const Crew& crew, objectstore::ObjectStore& store, const Part& file, const Digest& root, std::uint32_t piece_size)
{
    const std::uint64_t size = file.content.size;
    BOOST_OUTCOME_TRY(open, file.content.open());
    BOOST_OUTCOME_TRY(upload, store.upload(objectstore::blob_key(root), size));
    crypto::TreeHasher tree{size, piece_size};
    std::vector<std::byte> buffer(std::min<std::uint64_t>(copy_bytes, size));
    for (std::uint64_t at = 0; at < size; at += buffer.size()) {
        if (crew.ending()) return failure(Crew::given_up());
        const MutableBytes bytes = MutableBytes{buffer}.first(std::min<std::uint64_t>(buffer.size(), size - at));
        open->expect(at, 8 * copy_bytes);
        BOOST_OUTCOME_TRY(open->read(at, bytes));
        tree.update(bytes);
        BOOST_OUTCOME_TRY(upload->write(bytes));
        crew.count(bytes.size());
    }
    const Digest found = tree.finish().pieces_root;
    if (found != root) return failure(changed(file.name, root, found));
    BOOST_OUTCOME_TRY(open->check());
    return upload->commit();
}

Result<void> copy_pack(Crew& crew, objectstore::ObjectStore& store, const std::vector<Part>& parts, const std::vector<Digest>& sha256, const Digest& root)
{
    const std::uint64_t size = size_of(parts);
    const origin::PackMemory buffer = origin::memory_for_pack(size);
    const MutableBytes bytes{buffer.get(), size};
    BOOST_OUTCOME_TRY(read_parts(crew, parts, bytes, [&](std::size_t i, Result<ConstBytes> read) -> Result<void> {
        BOOST_OUTCOME_TRY(content, read);
        const Digest found = crypto::sha256(content);
        if (found != sha256[i]) return failure(changed(parts[i].name, sha256[i], found));
        return success();
    }));
    BOOST_OUTCOME_TRY(upload, store.upload(objectstore::blob_key(root), size));
    BOOST_OUTCOME_TRY(upload->write(bytes));
    return upload->commit();
}

}  // namespace shoal::seeder
