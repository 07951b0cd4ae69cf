#include "seeder/metered_store.hpp"

namespace shoal::seeder {
namespace {

std::string name_of(Errc code)
{
    switch (code) {
    case Errc::not_found: return "not_found";
    case Errc::not_allowed: return "not_allowed";
    case Errc::no_space: return "no_space";
    case Errc::integrity: return "cut";
    case Errc::timed_out: return "timed_out";
    case Errc::interrupted: return "interrupted";
    case Errc::too_large: return "too_large";
    case Errc::exists: return "exists";
    case Errc::changed: return "changed";
    case Errc::io: return "io";
    case Errc::internal:
    case Errc::invalid:
    case Errc::malformed: break;
    }
    return "error";
}

}  // namespace

MeteredStore::MeteredStore(std::unique_ptr<ObjectStore> inner, std::shared_ptr<obs::Metrics> metrics, std::shared_ptr<origin::OriginGate> gate)
    : inner_{std::move(inner)}, metrics_{std::move(metrics)}, gate_{std::move(gate)}
{
    count_bytes(0);  // shown from the start
}

template <typename T>
Result<T> MeteredStore::count(const char* operation, Result<T> result)
{
    const std::string code = result ? "ok" : name_of(result.error().code);
    metrics_->add("shoal_origin_requests_total", "Requests to the object store.", {{"operation", operation}, {"code", code}}, 1);
    return result;
}

void MeteredStore::count_bytes(std::uint64_t bytes)
{
    metrics_->add("shoal_origin_bytes_total", "Bytes read from the object store.", {}, static_cast<double>(bytes));
}

Result<objectstore::ObjectInfo> MeteredStore::head(const std::string& key)
{
    return count("head", inner_->head(key));
}

Result<objectstore::Object> MeteredStore::get(const std::string& key, std::size_t limit)
{
    Result<objectstore::Object> object = count("get", inner_->get(key, limit));
    if (object) {
        count_bytes(object.value().content.size());
        gate_->charge(object.value().content.size());
    }
    return object;
}

Result<void> MeteredStore::get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<objectstore::Version>& expected)
{
    if (!gate_->admit(out.size())) return failure(Errc::interrupted, "reading " + key + ": " + url() + ": the program ends");
    Result<void> read = count("get_range", inner_->get_range(key, offset, out, expected));
    if (read) count_bytes(out.size());
    return read;
}

Result<objectstore::Version> MeteredStore::put(const std::string& key, std::string_view content, const objectstore::Condition& condition)
{
    return count("put", inner_->put(key, content, condition));
}

Result<std::unique_ptr<objectstore::Upload>> MeteredStore::upload(const std::string& key, std::uint64_t size)
{
    return count("upload", inner_->upload(key, size));
}

Result<objectstore::Page> MeteredStore::list(const std::string& prefix, const std::string& after, std::size_t limit)
{
    return count("list", inner_->list(prefix, after, limit));
}

Result<void> MeteredStore::remove(const std::string& key)
{
    return count("remove", inner_->remove(key));
}

}  // namespace shoal::seeder
