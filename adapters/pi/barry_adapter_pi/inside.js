// A pi extension: puts every call to Barry before it runs, takes Barry's messages in, and tells
// what happens. It holds a line to Barry (line.js); without an answer the call is refused.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { line } from "./line.js"
import { asRun } from "./paths.js"

const LONG = 300_000 // characters of an input: what a file is to hold is not ruled on
const SHOWN = 10_000 // characters of a result that are told
const STARTING = 1_000 // ms from the start until pi has begun with its own first prompt
const BEGINNING = 5_000 // ms that a prompt may take to become a turn
const TRYING = 20_000 // ms in which pi itself tries a failed request again
const COMPACTING = 300_000 // ms that a summary may take

// pi loads an extension anew for each conversation: what is under way outlives that.
const now = (globalThis.barryNow ??= { sent: new Map(), busyUntil: 0, ending: false, ctx: null })

const busy = (ms) => (now.busyUntil = ms && Date.now() + ms)

// Whether pi would take a prompt in now. While it works, one joins the turn.
function ready() {
  const { ctx, busyUntil, ending } = now
  if (!ctx || Date.now() < busyUntil) return false
  if (!ctx.isIdle()) return !ending
  return Boolean(ctx.model) && ctx.modelRegistry.hasConfiguredAuth(ctx.model)
}

function say(pi, message, text) {
  if (!ready()) return { ok: false }
  if (now.ctx.isIdle()) busy(BEGINNING)
  now.sent.set(message, text)
  try {
    pi.sendUserMessage(text, { deliverAs: "steer" })
  } catch (error) {
    now.sent.delete(message)
    throw error
  }
  return { ok: true }
}

const words = (content) =>
  typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join("")

// What the user's side of the conversation now holds shows what has arrived; each text counts once.
function arrived(said) {
  let rest = said
  for (const [message, text] of now.sent) {
    const at = rest.indexOf(text)
    if (at < 0) continue
    rest = rest.slice(0, at) + "\0" + rest.slice(at + text.length)
    now.sent.delete(message)
    line.tell("taken", { message })
  }
}

// What a folder's settings would run instead of a command, or around it, without being asked about.
function runsMore(cwd) {
  let text
  try {
    text = readFileSync(join(cwd, ".pi", "settings.json"), "utf8")
  } catch (error) {
    return error.code !== "ENOENT" && error.code !== "ENOTDIR"
  }
  try {
    const found = Object(JSON.parse(text))
    return line.given.programs.some((name) => Object.hasOwn(found, name))
  } catch {
    return true
  }
}

const brief = (input) =>
  input.path && JSON.stringify(input).length > LONG ? { path: input.path } : input

async function ruled({ toolName: tool, toolCallId: call, input }, ctx) {
  if (tool === "bash" && runsMore(ctx.cwd)) {
    const reason =
      "Barry refused this command: .pi/settings.json of this folder names programs of its own"
    return { block: true, reason }
  }
  const asked = brief(asRun(tool, input, ctx.cwd))
  const { allowed, reason } = await line.rule({ tool, call, input: asked, cwd: ctx.cwd })
  if (allowed !== true) return { block: true, reason: reason || "Barry refused this call" }
}

export default function (pi) {
  const conversation = (ctx) => ({ harnessSessionId: ctx.sessionManager.getSessionId() })

  pi.on("tool_call", ruled)
  pi.on("session_start", (event, ctx) => {
    now.ctx = ctx
    now.ending = false
    busy(STARTING)
    const transcript = ctx.sessionManager.getSessionFile()
    line.tell("start", { ...conversation(ctx), cwd: ctx.cwd, transcript })
  })
  pi.on("input", (_, ctx) => void (ctx.isIdle() && busy(BEGINNING)))
  pi.on("agent_start", () => {
    now.ending = false
    busy(0)
  })
  pi.on("message_end", ({ message }, ctx) => {
    if (message.role !== "user") return
    const prompt = words(message.content)
    arrived(prompt)
    line.tell("prompt", { ...conversation(ctx), prompt: prompt.slice(0, LONG) })
  })
  pi.on("tool_result", ({ toolName: tool, toolCallId: call, input, content, isError }, ctx) => {
    const told = { tool, call, input: brief(input), result: words(content).slice(0, SHOWN) }
    line.tell("after-tool", { ...conversation(ctx), ...told, error: isError })
  })
  pi.on("agent_end", ({ messages }, ctx) => {
    now.ending = true
    if (messages.at(-1)?.stopReason === "error") busy(TRYING)
    line.tell("stop", conversation(ctx))
  })
  pi.on("session_before_compact", ({ signal }) => {
    busy(COMPACTING)
    signal.addEventListener("abort", () => busy(0))
  })
  pi.on("session_compact", () => void busy(0))
  pi.on("session_shutdown", ({ reason }, ctx) => {
    now.ctx = null
    if (reason === "quit") line.tell("end", conversation(ctx))
  })

  line.answer = ({ do: what, message, text }) =>
    what === "say" ? say(pi, message, text) : { ok: what === "ready" && ready() }
  line.begin() // not before the handlers are there: it tells Barry that they are
}
