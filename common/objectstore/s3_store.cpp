#include "common/objectstore/s3_store.hpp"

#include "common/core/ids.hpp"
#include "common/core/random.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/s3_range.hpp"
#include "common/objectstore/s3_upload.hpp"
#include "common/objectstore/s3_xml.hpp"
#include "common/obs/log.hpp"

namespace shoal::objectstore {
namespace {

constexpr std::chrono::seconds bucket_seen_for{5};
constexpr std::size_t most_of_key = 1024;
constexpr std::uint64_t most_copied = 5ULL << 30U;  // by one request
constexpr std::chrono::minutes copied_within{5};
constexpr const char* mark_header = "x-amz-meta-write";  // one of each conditional write

using WriteMark = Opaque<struct WriteMarkTag, 16>;

std::string if_match(const Version& version)
{
    return "if-match: \"" + version + "\"";
}

Error changed_error(const std::string& name, const Version& expected, const std::string& found)
{
    return {Errc::changed, "object has changed: " + name + ": expected version " + model::printable(expected) + ", found " + model::printable(found), {}};
}

Error exists_error(const std::string& name)
{
    return {Errc::exists, "object exists: " + name, {}};
}

Error cut_error(const std::string& name, std::uint64_t expected, std::uint64_t found)
{
    return {Errc::integrity, "object is cut short: " + name + ": expected at least " + std::to_string(expected) + " bytes, found " + std::to_string(found), {}};
}

Result<void> check_key(const S3Caller& caller, const std::string& key)
{
    if (!key.empty() && key.find('\0') == std::string::npos && key.size() + caller.location().prefix.size() <= most_of_key) return success();
    return failure(Errc::invalid, "not a key: " + caller.name_of(key.substr(0, most_of_key)) + ": empty, longer than 1024 bytes, or with a zero byte");
}

Version version_of(const HttpReply& reply)
{
    return version_of_etag(reply.header("etag"));
}

}  // namespace

S3Store::S3Store(std::shared_ptr<S3Caller> caller) : caller_{std::move(caller)} {}

Result<std::unique_ptr<ObjectStore>> S3Store::open(const S3Location& location, const Environment& environment, const S3Limits& limits, const S3Clock& clock)
{
    BOOST_OUTCOME_TRY(settings, read_s3_settings(environment, location.bucket));
    auto store = std::make_unique<S3Store>(std::make_shared<S3Caller>(location, settings, environment, limits, clock));
    const auto there = store->check_bucket();
    if (!there && there.error().message.starts_with("store is gone"))
        return failure(Errc::not_found, "store not found: " + store->url() + ": there is no such bucket", "make the bucket, or correct the store's URL");
    if (!there) return failure(there.error());
    return std::unique_ptr<ObjectStore>{std::move(store)};
}

// A listing, whose answer says what is wrong; that to a HEAD has no body.
Result<void> S3Store::check_bucket()
{
    if (Clock::now().time_since_epoch().count() - bucket_seen_ < Clock::duration{bucket_seen_for}.count()) return success();
    BOOST_OUTCOME_TRY(list("", "", 1));
    return success();
}

// The answer to a HEAD has no body: what is wrong is asked by a GET, which may also set it right (newer keys, the other clock).
Result<S3Reply> S3Store::head_reply(const std::string& key)
{
    BOOST_OUTCOME_TRY(reply, caller_->call({.method = "HEAD", .key = key}));
    if (reply.http.ok() || reply.http.status == 404) return std::move(reply);
    BOOST_OUTCOME_TRY(told, caller_->call({.key = key, .headers = {"range: bytes=0-0"}}));
    if (!told.http.ok() && told.http.status != 416) return std::move(told);
    return caller_->call({.method = "HEAD", .key = key});
}

Result<ObjectInfo> S3Store::head(const std::string& key)
{
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    BOOST_OUTCOME_TRY(reply, head_reply(key));
    if (reply.http.status == 404) {
        BOOST_OUTCOME_TRY(check_bucket());
    }
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key));
    bucket_seen_ = Clock::now().time_since_epoch().count();
    const auto size = content_length(reply.http);
    if (!size) return failure(Errc::io, "store answers without a size: " + caller_->name_of(key));
    return ObjectInfo{key, *size, version_of(reply.http)};
}

Result<Object> S3Store::get(const std::string& key, std::size_t limit)
{
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    const auto whole = [](const HttpReply& reply) { return reply.status == 200; };
    // An error's body must fit too.
    const std::size_t kept = std::max<std::size_t>(limit, 64U << 10U);
    BOOST_OUTCOME_TRY(reply, caller_->call({.key = key, .limit = kept, .acceptable = whole}));
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key));
    if (reply.http.received > limit)
        return failure(Errc::too_large, "object is too large: " + caller_->name_of(key) + ": expected at most " + std::to_string(limit) + " bytes");
    return Object{std::move(reply.http.body), version_of(reply.http)};
}

// What a range of no bytes still says: the object is there, this one, and reaches so far.
Result<void> S3Store::check_end(const std::string& key, std::uint64_t end, const std::optional<Version>& expected)
{
    BOOST_OUTCOME_TRY(info, head(key));
    if (expected && info.version != *expected) return failure(changed_error(caller_->name_of(key), *expected, info.version));
    return info.size >= end ? Result<void>{success()} : failure(cut_error(caller_->name_of(key), end, info.size));
}

Result<void> S3Store::get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<Version>& expected)
{
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    const Wanted wanted{offset, out.size()};
    const std::string name = caller_->name_of(key);
    if (out.empty()) return check_end(key, offset, expected);
    S3Request request{.key = key, .headers = {"range: bytes=" + std::to_string(offset) + "-" + std::to_string(wanted.end() - 1)}, .out = out};
    if (expected) request.headers.push_back(if_match(*expected));
    request.acceptable = [&wanted](const HttpReply& reply) { return keeps_its_word(reply, wanted); };
    BOOST_OUTCOME_TRY(reply, caller_->call(request));
    const bool there = reply.http.ok() || reply.http.status == 416;
    const Version found = version_of(reply.http);
    if (expected && (reply.http.status == 412 || (there && !found.empty() && found != *expected)))
        return failure(changed_error(name, *expected, found.empty() ? "another" : found));
    if (const auto size = shown_size(reply.http, wanted)) return failure(cut_error(name, wanted.end(), *size));
    if (reply.http.status == 416) {
        BOOST_OUTCOME_TRY(info, head(key));
        return failure(cut_error(name, wanted.end(), info.size));
    }
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key));
    return success();
}

// For a store that may not know of conditions.
Result<void> S3Store::check_before(const std::string& key, const Condition& condition)
{
    const auto info = head(key);
    if (!info && info.error().code != Errc::not_found) return failure(info.error());
    if (condition.kind == Condition::Kind::absent && info) return failure(exists_error(caller_->name_of(key)));
    if (condition.kind == Condition::Kind::version && (!info || info.value().version != condition.version))
        return failure(changed_error(caller_->name_of(key), condition.version, info ? info.value().version : "none"));
    return success();
}

Result<Version> S3Store::put_plainly(const std::string& key, std::string_view content)
{
    BOOST_OUTCOME_TRY(reply, caller_->call({.method = "PUT", .key = key, .body = content}));
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key));
    return version_of(reply.http);
}

// If an attempt of ours may have been done already and its answer was lost, its mark is on what is there. The same content may be another writer's.
Result<Version> S3Store::refused(const S3Reply& reply, const std::string& key, const Condition& condition, const std::string& mark)
{
    if (reply.may_be_second) {
        const auto there = head_reply(key);
        if (there && there.value().http.ok() && there.value().http.header(mark_header) == mark) return version_of(there.value().http);
    }
    if (reply.http.status == 409) {  // a conflict, but it is not said with what
        BOOST_OUTCOME_TRY(check_before(key, condition));
        return failure(caller_->error_of(reply, key));
    }
    if (condition.kind == Condition::Kind::absent) return failure(exists_error(caller_->name_of(key)));
    return failure(changed_error(caller_->name_of(key), condition.version, "another or none"));
}

// Said once: whoever runs several publishers must know.
void S3Store::lacks_conditions(const char* how)
{
    if (conditions_.exchange(Conditions::lacking) == Conditions::lacking) return;
    obs::log(obs::Level::warning, "store has no conditional writes: run one publisher at a time", {{"store", url()}, {"because", how}});
}

// Writes again what has just been written, if nothing is there: a store that keeps conditions refuses that.
Version S3Store::find_out(const std::string& key, std::string_view content, Version version)
{
    const auto reply = caller_->call({.method = "PUT", .key = key, .headers = {"if-none-match: *"}, .body = content});
    if (!reply) return version;
    if (reply.value().http.status == 412) conditions_ = Conditions::kept;
    if (!reply.value().http.ok()) return version;
    lacks_conditions("it ignores them");
    return version_of(reply.value().http);
}

// Some gateways take an ETag without its quotes only, and refuse the one that is there with them.
Result<S3Reply> S3Store::send_if(const std::string& key, std::string_view content, const Condition& condition, const std::string& mark)
{
    const bool absent = condition.kind == Condition::Kind::absent;
    const std::string marked = std::string{mark_header} + ": " + mark;
    const auto send = [&](const std::string& header) { return caller_->call({.method = "PUT", .key = key, .headers = {header, marked}, .body = content}); };
    if (absent) return send("if-none-match: *");
    const std::string bare = "if-match: " + condition.version;
    if (bare_etags_) return send(bare);
    BOOST_OUTCOME_TRY(reply, send(if_match(condition.version)));
    if (reply.http.status != 412 || reply.may_be_second) return std::move(reply);
    const auto there = head(key);
    if (!there || there.value().version != condition.version) return std::move(reply);
    BOOST_OUTCOME_TRY(again, send(bare));
    if (again.http.ok()) bare_etags_ = true;
    return std::move(again);
}

Result<Version> S3Store::put_if(const std::string& key, std::string_view content, const Condition& condition)
{
    const std::string mark = to_hex(random_id<WriteMark>());
    BOOST_OUTCOME_TRY(reply, send_if(key, content, condition, mark));
    const int status = reply.http.status;
    const bool gone = status == 404 && reply.problem.code != "NoSuchBucket" && condition.kind == Condition::Kind::version;
    if (status == 412) conditions_ = Conditions::kept;
    if (status == 412 || status == 409 || gone) return refused(reply, key, condition, mark);
    if (status == 501) {
        lacks_conditions("it answers 501");
        return put_plainly(key, content);
    }
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key));
    return version_of(reply.http);
}

Result<Version> S3Store::put(const std::string& key, std::string_view content, const Condition& condition)
{
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    if (condition.kind == Condition::Kind::always) return put_plainly(key, content);
    const Conditions known = conditions_;
    if (known != Conditions::kept) {
        BOOST_OUTCOME_TRY(check_before(key, condition));
    }
    if (known == Conditions::lacking) return put_plainly(key, content);
    BOOST_OUTCOME_TRY(version, put_if(key, content, condition));
    return conditions_ == Conditions::unknown ? find_out(key, content, std::move(version)) : std::move(version);
}

Result<std::unique_ptr<Upload>> S3Store::upload(const std::string& key, std::uint64_t size)
{
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    return std::unique_ptr<Upload>{std::make_unique<S3Upload>(*this, caller_, key, size)};
}

Result<Page> S3Store::list(const std::string& prefix, const std::string& after, std::size_t limit)
{
    if (limit < 1 || limit > 1000) return failure(Errc::invalid, "cannot list: " + url() + ": a page has 1 to 1000 objects, not " + std::to_string(limit));
    const std::string& base = caller_->location().prefix;
    S3Request request{
        .key = {}, .query = {{"encoding-type", "url"}, {"list-type", "2"}, {"max-keys", std::to_string(limit)}, {"prefix", base + prefix}}, .limit = max_xml};
    std::string last = base + after;
    if (!last.empty()) request.query["start-after"] = last;  // also past the key that is the prefix itself
    BOOST_OUTCOME_TRY(reply, caller_->call(request));
    if (!reply.http.ok()) return failure(caller_->error_of(reply, ""));
    auto listing = decode_listing(reply.http.body);
    if (!listing) return failure(Errc::io, "store answers with no listing: " + url() + ": " + listing.error().message, "check AWS_ENDPOINT_URL");
    bucket_seen_ = Clock::now().time_since_epoch().count();
    Page page{std::move(listing.value().objects), {}};
    if (after.empty()) last.clear();
    for (ObjectInfo& object : page.objects) {
        // Or else there might be no end.
        if (object.key <= last) return failure(Errc::io, "store lists keys that do not follow each other: " + caller_->name_of(object.key), {});
        last = object.key;
        if (!object.key.starts_with(base + prefix)) return failure(Errc::io, "store lists what was not asked for: " + caller_->name_of(object.key), {});
        object.key.erase(0, base.size());
    }
    if (page.objects.size() > limit) return failure(Errc::io, "store lists more than was asked for: " + url(), {});
    if (listing.value().more) page.next = page.objects.back().key;
    return page;
}

Result<void> S3Store::remove(const std::string& key)
{
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    BOOST_OUTCOME_TRY(reply, caller_->call({.method = "DELETE", .key = key}));
    if (reply.http.ok() || (reply.http.status == 404 && reply.problem.code != "NoSuchBucket")) return success();
    return failure(caller_->error_of(reply, key));
}

// An answer of 200 may hold an error. What the store will not copy for whatever reason, permissions too, is copied by hand.
Result<S3Reply> S3Store::send_copy(const S3Location& from, const std::string& from_key, const std::string& key)
{
    const auto copied = [](const HttpReply& reply) { return decode_copied(reply.body).has_value(); };
    return caller_->call({.method = "PUT",
        .key = key,
        .headers = {"x-amz-copy-source: /" + from.bucket + "/" + percent_encoded_path(from.prefix + from_key)},
        .acceptable = copied,
        .stall = copied_within,
        .within = copied_within});
}

// That the object is still the one is looked at afterwards: curl 7.88 sorts x-amz-copy-source-if-match before x-amz-copy-source, and so signs what no store
// computes.
Result<bool> S3Store::copy_from(ObjectStore& from, const ObjectInfo& object, const std::string& key)
{
    const auto location = parse_s3_url(from.url());
    if (!location || object.size > most_copied) return false;
    BOOST_OUTCOME_TRY(check_key(*caller_, key));
    const auto reply = send_copy(location.value(), object.key, key);
    if (!reply && reply.error().code == Errc::interrupted) return failure(reply.error());
    if (!reply || !reply.value().http.ok()) return false;
    const auto now = from.head(object.key);
    if (now && now.value().version == object.version && now.value().size == object.size) return true;
    BOOST_OUTCOME_TRY(caller_->call({.method = "DELETE", .key = key, .to_the_end = true}));
    if (!now) return failure(now.error());
    return failure(changed_error(from.url() + " key '" + model::printable(object.key) + "'", object.version, now.value().version));
}

}  // namespace shoal::objectstore
