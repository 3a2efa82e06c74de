// An opencode plugin: puts every call to Barry before it acts, takes Barry's messages in, and
// tells what happens. It holds a line to Barry (line.js); without an answer the call is refused.
import { line } from "./line.js"

const SECRET = /^(BARRY_OPENCODE_|OPENCODE_SERVER_PASSWORD$)/ // nothing for the agent's commands
const HARMLESS = "invalid" // what opencode calls in place of a tool that isn't there
const LONG = 300_000 // characters of an input: what a file is to hold is not ruled on
const SHOWN = 10_000 // characters of a result that are told
const SHOWING = [0, 500, 1000, 2000, 4000, 8000] // ms: a UI that has only just begun hears late

// opencode may load this more than once in a process: all of them are one.
const now = (globalThis.barryNow ??= {
  conversation: line.given.conversation, // where messages go; none before the first prompt
  roots: new Set(), // conversations of the user's
  children: new Set(), // conversations of subagents
  stored: new Map(), // opencode's message -> Barry's, and its conversation
  ended: new Set(), // calls whose end was told
  asking: new Set(), // conversations in which the person is being asked
})

const served = Object.entries(line.given.servers ?? {}).sort(([a], [b]) => b.length - a.length)

// Barry's name of a tool: a server's are "server_tool" here.
function named(tool) {
  const found = served.find(([start]) => tool.startsWith(`${start}_`))
  return found ? `mcp__${found[1]}__${tool.slice(found[0].length + 1)}` : tool
}

const brief = (input) =>
  input?.filePath && JSON.stringify(input).length > LONG ? { filePath: input.filePath } : input

async function ruled(cwd, { tool, callID: call }, { args }) {
  if (tool === HARMLESS) return
  const { allowed, reason } = await line.rule({ tool: named(tool), call, input: brief(args), cwd })
  if (allowed !== true) throw new Error(reason || "Barry refused this call")
}

// Until this plugin rules, rules of opencode's own bar every tool: now it does.
function unbar({ permission, agent, mode }) {
  const agents = [...Object.values(agent ?? {}), ...Object.values(mode ?? {})]
  for (const rules of [permission, ...agents.map((each) => each?.permission)])
    if (rules && typeof rules === "object") delete rules[line.given.barrier]
}

// --- messages ---

const model = (name) => {
  const [providerID, ...rest] = name?.split("/") ?? []
  return rest.length ? { providerID, modelID: rest.join("/") } : undefined
}

// The agent and the model that the conversation has; a new one gets those of the launch.
async function place(client) {
  if (now.conversation) {
    const { data, error } = await client.session.get({ path: { id: now.conversation } })
    if (error) throw new Error("the conversation is gone")
    const used = data.model && { providerID: data.model.providerID, modelID: data.model.id }
    return { agent: data.agent, model: used }
  }
  const { data, error } = await client.session.create({ body: {} })
  if (error) throw new Error("no conversation could be begun")
  now.conversation = data.id
  const shown = { type: "tui.session.select", properties: { sessionID: data.id } }
  for (const ms of SHOWING)
    setTimeout(() => now.conversation === data.id && client.tui.publish({ body: shown }), ms).unref()
  return { agent: line.given.agent, model: model(line.given.model) }
}

async function say(client, message, text) {
  const parts = [{ type: "text", text, metadata: { barryMessage: message } }]
  const body = { ...(await place(client)), parts }
  const { error } = await client.session.promptAsync({ path: { id: now.conversation }, body })
  return { ok: !error }
}

const ready = () => Boolean(now.conversation || line.given.fresh)

// --- what happens ---

function told(kind, sessionID, about) {
  if (!now.children.has(sessionID)) line.tell(kind, { harnessSessionId: sessionID, ...about })
}

const begun = ({ id, parentID }) => (parentID ? now.children : now.roots).add(id)

async function prompted(client, { message, parts }) {
  const { sessionID } = message
  if (!now.roots.has(sessionID) && !now.children.has(sessionID)) {
    const { data } = await client.session.get({ path: { id: sessionID } })
    if (data) begun(data)
  }
  if (!now.roots.has(sessionID)) return
  now.conversation = sessionID
  const words = parts.filter((part) => part.type === "text" && !part.synthetic)
  // A message of Barry's doesn't end a dialog: it is the person's answer that is waited for still.
  if (now.asking.has(sessionID) && words.some((part) => part.metadata?.barryMessage)) return
  told("prompt", sessionID, { prompt: words.map((part) => part.text).join("\n").slice(0, LONG) })
}

// A message is in the model's hands once an answer is begun to it, or to one behind it.
function answering({ role, parentID, sessionID }) {
  if (role !== "assistant" || !parentID) return
  for (const [id, [message, where]] of now.stored) {
    if (where !== sessionID || id > parentID) continue
    now.stored.delete(id)
    line.tell("taken", { message })
  }
}

function happened(part) {
  const { type, sessionID, messageID, metadata, tool, callID: call, state } = part
  if (type === "text" && metadata?.barryMessage)
    now.stored.set(messageID, [metadata.barryMessage, sessionID])
  if (type !== "tool" || !["completed", "error"].includes(state.status)) return
  if (now.ended.has(call)) return
  now.ended.add(call)
  const result = String(state.output ?? state.error ?? "").slice(0, SHOWN)
  const about = { tool: named(tool), call, input: brief(state.input), result }
  line.tell("after-tool", { ...about, error: state.status === "error" })
}

function asked(sessionID, tool, where, input) {
  now.asking.add(sessionID)
  told("ask", sessionID, { tool: named(tool), call: where?.callID, input })
}

const EVENTS = {
  "session.created": ({ info }) => {
    begun(info)
    told("start", info.id, { cwd: info.directory })
  },
  "message.updated": ({ info }) => answering(info),
  "message.part.updated": ({ part }) => {
    if (part.tool === "task" && part.state.metadata?.sessionId)
      now.children.add(part.state.metadata.sessionId)
    happened(part)
  },
  "permission.asked": ({ sessionID, permission, patterns, tool }) =>
    asked(sessionID, permission, tool, { patterns }),
  "question.asked": ({ sessionID, questions, tool }) =>
    asked(sessionID, "question", tool, { questions }),
  "permission.replied": ({ sessionID }) => now.asking.delete(sessionID),
  "question.replied": ({ sessionID }) => now.asking.delete(sessionID),
  "question.rejected": ({ sessionID }) => now.asking.delete(sessionID),
  "session.idle": ({ sessionID }) => {
    now.asking.delete(sessionID)
    told("stop", sessionID)
  },
}

export const Barry = async ({ client, directory }) => {
  line.answer = ({ do: what, message, text }) =>
    what === "say" ? say(client, message, text) : { ok: what === "ready" && ready() }
  line.begin()
  return {
    config: async (settings) => unbar(settings),
    "tool.execute.before": (call, input) => ruled(directory, call, input),
    "chat.message": (_, said) => prompted(client, said),
    "shell.env": async (_, { env }) => {
      const secrets = Object.keys(process.env).filter((name) => SECRET.test(name))
      for (const name of [...secrets, ...(line.given.hidden ?? [])]) env[name] = ""
    },
    event: async ({ event: { type, properties } }) => EVENTS[type]?.(properties),
  }
}
