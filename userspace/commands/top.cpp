// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>

#include "userspace/agent.h"
#include "userspace/commands/agent_loop.h"
#include "userspace/commands/commands.h"
#include "userspace/commands/screen.h"
#include "userspace/commands/top_json.h"
#include "userspace/commands/top_rows.h"
#include "userspace/commands/top_table.h"

namespace uvtap {
namespace {

using After = AgentLoop::After;
using Show = std::function<void(const TopView&)>;

/// --once waits for figures, which most often come with the third tick. A process that has only
/// just started is given a second to be found, and does not hold up the others for more than four.
constexpr int fewest_ticks = 2;
constexpr int most_ticks = 5;

/// A table that log lines run through cannot be read.
void quieten_log(bool drawing) {
  if (drawing && isatty(STDERR_FILENO)) {
    spdlog::set_level(spdlog::level::off);
  } else if (spdlog::get_level() == spdlog::level::info) {
    spdlog::set_level(spdlog::level::warn);
  }
}

std::map<RowKey, RowLoops> loops_by_row(const Agent& agent) {
  std::map<RowKey, RowLoops> rows;
  for (const LoopSnapshot& loop : agent.loops()) {
    RowLoops& row = rows[{agent.identity_of(loop), loop.is_worker}];
    row.pids.insert(loop.id.pid);
    row.tids.insert(loop.id.tid);
    row.doors.insert(loop.door);
  }
  return rows;
}

TopView view_of(const Config& config, const Agent& agent,
                const std::vector<ContainerMetrics>& containers) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.grouping = config.top_row,
          .window_ns = config.window_ns,
          .unix_seconds = std::chrono::duration<double>(now).count(),
          .processes = agent.processes().observed().size(),
          .unsupported_processes = agent.processes().unsupported().size(),
          .rows = top_rows(containers, loops_by_row(agent))};
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_table(const TopView& view) {
  const auto size = terminal_size(STDOUT_FILENO);
  std::string text = top_summary(view) + "\n";
  if (!view.rows.empty())
    for (const Line& line : lay_out(top_table(view), size ? size->columns : unlimited_width))
      text += (size ? with_colour(line) : line.text) + "\n";
  print(text);
}

void draw_table(const TopView& view, const Screen& screen) {
  const TerminalSize size = screen.size();
  std::vector<Line> lines{{cut(top_summary(view) + "   (q quits)", size.columns)}};
  if (view.processes == 0) lines.push_back({cut("waiting for one to start", size.columns)});
  if (!view.rows.empty())
    std::ranges::copy(lay_out(top_table(view), size.columns), std::back_inserter(lines));
  screen.draw(lines);
}

Result<void> run(const Config& config, Agent& agent, AgentLoop& loop, const Show& show) {
  int ticks = 0;
  return loop.run(agent, [&](const std::vector<ContainerMetrics>& containers) {
    const TopView view = view_of(config, agent, containers);
    ++ticks;
    const bool settled = ticks >= most_ticks || (ticks >= fewest_ticks && is_complete(view));
    if (config.once && !settled) return After::go_on;
    show(view);
    return config.once ? After::stop : After::go_on;
  });
}

/// The live table; the terminal is put back before this returns.
Result<void> run_on_screen(const Config& config, Agent& agent, AgentLoop& loop) {
  const Keys keys;
  const Screen screen;
  if (keys.available()) {
    auto watching =
        loop.when_readable(STDIN_FILENO, [&] { return keys.quit() ? After::stop : After::go_on; });
    if (!watching) return watching;
  }
  return run(config, agent, loop, [&](const TopView& view) { draw_table(view, screen); });
}

void print_json(const TopView& view) { print(top_json(view) + "\n"); }

}  // namespace

Result<int> top(const Config& config) {
  const bool drawing = !config.once && !config.json && isatty(STDOUT_FILENO);
  quieten_log(drawing);
  auto loop = AgentLoop::create(AgentLoop::Ticks::each_second);
  if (!loop) return std::unexpected(loop.error());
  auto agent = Agent::start(config, config.top_row);
  if (!agent) return std::unexpected(agent.error());
  auto done = drawing ? run_on_screen(config, **agent, *loop)
                      : run(config, **agent, *loop, config.json ? print_json : print_table);
  if (!done) return std::unexpected(done.error());
  return 0;
}

}  // namespace uvtap
