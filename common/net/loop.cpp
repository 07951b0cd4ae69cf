#include "common/net/loop.hpp"

#include "common/net/loop_impl.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <csignal>
#include <utility>

namespace shoal::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// A timer that lives as long as somebody holds its Handle.
class Timer : public std::enable_shared_from_this<Timer> {
public:
    Timer(asio::io_context& io, std::function<void()> work) : timer_{io}, work_{std::move(work)} {}

    void once(Duration delay)
    {
        timer_.expires_after(delay);
        timer_.async_wait([weak = weak_from_this()](error_code ec) {
            if (const auto self = weak.lock(); self && !ec) self->work_();
        });
    }

    void again(Duration period)
    {
        timer_.async_wait([weak = weak_from_this(), period](error_code ec) {
            const auto self = weak.lock();
            if (!self || ec) return;
            self->work_();
            self->timer_.expires_at(std::max(self->timer_.expiry() + period, Clock::now()));  // no burst after a pause
            self->again(period);
        });
    }

    void every(Duration period)
    {
        timer_.expires_after(period);
        again(period);
    }

private:
    asio::steady_timer timer_;
    std::function<void()> work_;
};

class Signals : public std::enable_shared_from_this<Signals> {
public:
    Signals(asio::io_context& io, std::function<void(int)> work) : signals_{io, SIGTERM, SIGINT}, work_{std::move(work)} {}

    void wait()
    {
        signals_.async_wait([weak = weak_from_this()](error_code ec, int signal) {
            const auto self = weak.lock();
            if (!self || ec) return;
            self->work_(signal);
            self->wait();
        });
    }

private:
    asio::signal_set signals_;
    std::function<void(int)> work_;
};

}  // namespace

Loop::Loop() : impl_{std::make_unique<Impl>()} {}

Loop::~Loop() = default;

void Loop::run()
{
    impl_->io.run();
    impl_->io.restart();
}

void Loop::stop()
{
    impl_->io.stop();
}

void Loop::post(std::function<void()> work)
{
    asio::post(impl_->io, std::move(work));
}

Handle Loop::after(Duration delay, std::function<void()> work)
{
    auto timer = std::make_shared<Timer>(impl_->io, std::move(work));
    timer->once(delay);
    return timer;
}

Handle Loop::every(Duration period, std::function<void()> work)
{
    auto timer = std::make_shared<Timer>(impl_->io, std::move(work));
    timer->every(period);
    return timer;
}

Handle Loop::on_signals(std::function<void(int)> work)
{
    auto signals = std::make_shared<Signals>(impl_->io, std::move(work));
    signals->wait();
    return signals;
}

}  // namespace shoal::net
