#include "common/objectstore/s3_upload.hpp"

#include <algorithm>

namespace shoal::objectstore {
namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;
constexpr std::uint64_t least_part = 16 * mebibyte;
constexpr std::uint64_t most_parts = 9000;
constexpr std::chrono::seconds abort_within{3};
constexpr std::chrono::minutes complete_within{5};  // the store may put the parts together then

Error other_length(const std::string& name, std::uint64_t expected, std::uint64_t found)
{
    return {Errc::integrity, "upload has another length: " + name + ": expected " + std::to_string(expected) + " bytes, found " + std::to_string(found), {}};
}

std::string xml_escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else
            out += c;
    }
    return out;
}

std::string completion(const std::vector<std::string>& parts)
{
    std::string xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < parts.size(); ++i)
        xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + xml_escaped(parts[i]) + "</ETag></Part>";
    return xml + "</CompleteMultipartUpload>";
}

}  // namespace

std::uint64_t part_size(std::uint64_t size)
{
    const std::uint64_t needed = (size + most_parts - 1) / most_parts;
    return std::max(least_part, (needed + mebibyte - 1) / mebibyte * mebibyte);
}

S3Upload::S3Upload(ObjectStore& store, std::shared_ptr<S3Caller> caller, std::string key, std::uint64_t size)
    : store_{store}, caller_{std::move(caller)}, key_{std::move(key)}, size_{size}, part_size_{part_size(size)}
{}

S3Upload::~S3Upload()
{
    abort();
}

Result<void> S3Upload::write(ConstBytes bytes)
{
    written_ += bytes.size();
    if (there_) return success();
    if (written_ > size_) return failure(other_length(caller_->name_of(key_), size_, written_));
    while (!bytes.empty()) {
        const std::size_t room = static_cast<std::size_t>(part_size_) - pending_.size();
        const ConstBytes taken = bytes.first(std::min(room, bytes.size()));
        pending_ += as_text(taken);
        bytes = bytes.subspan(taken.size());
        if (in_parts() && pending_.size() == part_size_) {
            BOOST_OUTCOME_TRY(send_part());
        }
    }
    return success();
}

Result<void> S3Upload::begin()
{
    BOOST_OUTCOME_TRY(reply, caller_->call({.method = "POST", .key = key_, .query = {{"uploads", ""}}}));
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key_));
    auto id = decode_upload_id(reply.http.body);
    if (!id) return failure(Errc::io, "store begins no upload: " + caller_->name_of(key_) + ": " + id.error().message, {});
    id_ = std::move(id).value();
    return success();
}

Result<void> S3Upload::send_part()
{
    if (id_.empty()) {
        BOOST_OUTCOME_TRY(begin());
    }
    const std::string number = std::to_string(parts_.size() + 1);
    BOOST_OUTCOME_TRY(reply, caller_->call({.method = "PUT", .key = key_, .query = {{"partNumber", number}, {"uploadId", id_}}, .body = pending_}));
    if (reply.problem.code == "NoSuchUpload") return look_for_the_others(reply);
    if (!reply.http.ok()) return failure(caller_->error_of(reply, key_));
    parts_.push_back(reply.http.header("etag"));
    pending_.clear();
    return success();
}

// Who brings the same object and was faster has swept this upload away.
Result<void> S3Upload::look_for_the_others(const S3Reply& reply)
{
    const auto info = store_.head(key_);
    there_ = info && info.value().size == size_;
    if (!there_) return failure(caller_->error_of(reply, key_));
    id_.clear();
    pending_.clear();
    return success();
}

// What others began and did not end: they were killed, or will find the object there.
void S3Upload::sweep()
{
    const std::string full_key = caller_->location().prefix + key_;
    const auto reply = caller_->call({.query = {{"encoding-type", "url"}, {"prefix", full_key}, {"uploads", ""}}, .limit = max_xml, .within = abort_within});
    if (!reply || !reply.value().http.ok()) return;  // it may not be allowed to; the bucket's lifecycle does it then
    const auto uploads = decode_uploads(reply.value().http.body);
    if (!uploads) return;
    for (const PendingUpload& upload : uploads.value()) {
        if (upload.key != full_key) continue;
        id_ = upload.id;
        abort();
    }
}

// An answer of 200 may hold an error after all.
Result<S3Reply> S3Upload::send_completion(const std::vector<std::string>& conditions)
{
    const std::string body = completion(parts_);
    const auto completed = [](const HttpReply& reply) { return decode_completed(reply.body).has_value(); };
    S3Request request{.method = "POST",
        .key = key_,
        .query = {{"uploadId", id_}},
        .headers = conditions,
        .body = body,
        .acceptable = completed,
        .stall = complete_within,
        .within = complete_within};
    request.headers.emplace_back("content-type: application/xml");
    return caller_->call(request);
}

// An answer that was lost shows in what is there then.
Result<void> S3Upload::complete()
{
    auto reply = send_completion({"if-none-match: *"});
    if (reply && reply.value().http.status == 501) reply = send_completion({});  // it knows no conditions; that nothing is there has been looked at
    if (reply && reply.value().http.ok()) {
        id_.clear();
        return success();
    }
    const auto there = store_.head(key_);
    if (there && there.value().size == size_) return success();
    return failure(reply ? caller_->error_of(reply.value(), key_) : reply.error());
}

Result<void> S3Upload::commit()
{
    if (written_ != size_) return failure(other_length(caller_->name_of(key_), size_, written_));
    if (!in_parts()) {
        const auto put = store_.put(key_, pending_, Condition::absent());
        return put || put.error().code == Errc::exists ? Result<void>{success()} : failure(put.error());
    }
    if (!pending_.empty() && !there_) {
        BOOST_OUTCOME_TRY(send_part());
    }
    BOOST_OUTCOME_TRY(make_visible());
    abort();
    sweep();
    return success();
}

Result<void> S3Upload::make_visible()
{
    if (there_) return success();
    // A store that does not know the condition would replace what is there.
    const auto there = store_.head(key_);
    if (there) return success();
    if (there.error().code != Errc::not_found) return failure(there.error());
    return complete();
}

// What is not finished is the store's to keep, and to be paid for, until it is aborted.
void S3Upload::abort()
{
    if (id_.empty()) return;
    (void)caller_->call({.method = "DELETE", .key = key_, .query = {{"uploadId", id_}}, .within = abort_within, .to_the_end = true});
    id_.clear();
}

}  // namespace shoal::objectstore
