#include "seeder/source_tree.hpp"

#include "common/model/manifest.hpp"
#include "common/model/names.hpp"
#include "seeder/stored_content.hpp"

#include <map>
#include <memory>
#include <set>

namespace shoal::seeder {
namespace {

using objectstore::ObjectInfo;
using objectstore::ObjectStore;

constexpr std::size_t page_size = 1000;

// Every object of a store, page by page; the first failure, also of `each`, ends it.
Result<void> list_all(ObjectStore& store, const std::function<bool()>& keep_going, const std::function<Result<void>(const ObjectInfo&)>& each)
{
    std::string after;
    do {
        if (!keep_going()) return failure(Crew::given_up());
        BOOST_OUTCOME_TRY(page, store.list("", after, page_size));
        for (const ObjectInfo& object : page.objects) {
            BOOST_OUTCOME_TRY(each(object));
        }
        after = page.next;
    } while (!after.empty());
    return success();
}

// An object as it was when it was first seen. A store says that it is another one now in several ways.
class OpenSourceObject final : public OpenContent {
public:
    OpenSourceObject(std::shared_ptr<OpenContent> inner, std::string name, std::uint64_t size) : inner_{std::move(inner)}, name_{std::move(name)}, size_{size}
    {}
    Result<void> read(std::uint64_t offset, MutableBytes out) override { return told(inner_->read(offset, out), name_, size_); }
    void expect(std::uint64_t offset, std::uint64_t length) override { inner_->expect(offset, length); }
    Result<void> check() override { return told(inner_->check(), name_, size_); }

    static Result<void> told(const Result<void>& done, const std::string& name, std::uint64_t size)
    {
        if (done) return success();
        if (done.error().code == Errc::not_found) return failure(source_changed(name, size, "it gone"));
        if (done.error().code == Errc::changed || done.error().code == Errc::integrity)
            return failure(source_changed(name, size, "another: " + done.error().message));
        return failure(done.error());
    }

private:
    std::shared_ptr<OpenContent> inner_;
    std::string name_;
    std::uint64_t size_;
};

class Lister {
public:
    Lister(std::shared_ptr<ObjectStore> store, const WalkOptions& options) : store_{std::move(store)}, options_{options}
    {
        tree_.name = tree_.url = store_->url();
        tree_.store = store_;
    }

    Result<SourceTree> list()
    {
        BOOST_OUTCOME_TRY(list_all(*store_, options_.keep_going, [this](const ObjectInfo& object) { return look_at(object); }));
        for (const SourceFile& file : tree_.files) refuse_keys_above(file.path);
        tree_.check_unchanged = [store = store_, seen = seen_](Crew& crew) { return check_unchanged(*store, *seen, crew); };
        return finished(std::move(tree_), complaints_, "remove them, or leave them out by --exclude");
    }

private:
    using Seen = std::map<std::string, ObjectInfo>;

    Result<void> look_at(const ObjectInfo& object)
    {
        if (object.size == 0 && (object.key.empty() || object.key.ends_with('/'))) return success();  // stands for a directory
        if (object.key == ".shoal.json" || object.key.starts_with(".shoal/")) return success();       // what a fetch left there
        if (!options_.selection.takes(object.key) || !complaints_.takes(object.key)) return success();
        if (object.version.empty()) return failure(Errc::io, "store lists an object without its ETag: " + name_of(*store_, object.key), {});
        add(object);
        if (tree_.files.size() > model::max_files) return failure(too_many_files(tree_));
        return success();
    }

    void add(const ObjectInfo& object)
    {
        const std::string name = name_of(*store_, object.key);
        Content stored = content_of(*store_, {object.key, 0, object.size, true, object.version}, options_.gate);
        const auto open = [store = store_, stored = std::move(stored), name]() -> Result<std::shared_ptr<OpenContent>> {
            auto inner = stored.open();
            if (!inner) return failure(OpenSourceObject::told(failure(inner.error()), name, stored.size).error());
            return std::shared_ptr<OpenContent>{std::make_shared<OpenSourceObject>(std::move(inner).value(), name, stored.size)};
        };
        tree_.files.push_back({object.key, object.size, object.version, {object.size, open, true}});
        seen_->emplace(object.key, object);
    }

    // A directory cannot hold both.
    void refuse_keys_above(const std::string& path)
    {
        for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            const std::string above = path.substr(0, slash);
            if (seen_->contains(above) && told_.insert(above).second) complaints_.add(above, "is a key and a directory of other keys");
        }
    }

    static std::string name_of(const ObjectStore& store, const std::string& key) { return store.url() + " key '" + model::printable(key) + "'"; }

    // By listing again: a request for a thousand keys.
    static Result<void> check_unchanged(ObjectStore& store, Seen seen, const Crew& crew)
    {
        BOOST_OUTCOME_TRY(list_all(
            store, [&crew] { return !crew.ending(); },
            [&](const ObjectInfo& now) -> Result<void> {
                const auto before = seen.extract(now.key);
                if (!before || (before.mapped().version == now.version && before.mapped().size == now.size)) return success();
                return failure(source_changed(name_of(store, now.key), before.mapped().size, std::to_string(now.size) + " bytes of another version"));
            }));
        if (seen.empty()) return success();
        return failure(source_changed(name_of(store, seen.begin()->first), seen.begin()->second.size, "it gone"));
    }

    std::shared_ptr<ObjectStore> store_;
    const WalkOptions& options_;
    SourceTree tree_;
    std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
    std::set<std::string> told_;
    Complaints complaints_;
};

}  // namespace

Result<SourceTree> list_source(const std::string& url, const WalkOptions& options)
{
    BOOST_OUTCOME_TRY(store, objectstore::open_store(url, options.keep_going));
    return Lister{std::move(store), options}.list();
}

}  // namespace shoal::seeder
