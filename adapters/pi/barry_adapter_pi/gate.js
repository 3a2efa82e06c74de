// A pi extension that puts every call to whoever drives pi, before the call runs.
//
// The question goes out as a dialog of pi's RPC mode, the ruling comes back as its answer. What
// fails on the way (no dialog, no answer, an answer that can't be read) refuses the call: pi
// blocks a call whose handler throws.
import { asRun } from "./paths.js"

export default function (pi) {
  pi.on("session_start", (event, ctx) => ctx.ui.setStatus("barry-gate", "asks about every call"))
  pi.on("tool_call", async (event, ctx) => {
    const { toolCallId: call, toolName: tool, input } = event
    const asked = JSON.stringify({ call, tool, input: asRun(tool, input, ctx.cwd) })
    const answer = JSON.parse((await ctx.ui.input("barry-ruling", asked)) ?? "{}")
    if (answer.allow === true) return
    return { block: true, reason: answer.reason || "Barry was not there to allow this call" }
  })
}
