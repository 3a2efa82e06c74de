// Runs inside opencode: puts every call to Barry before it acts, and tells what happens.
// One JSON object a line, on opencode's own stdout and stdin, beside those of its protocol.

const SECRET = /^(BARRY_OPENCODE_|OPENCODE_SERVER_PASSWORD$)/ // nothing for the agent's commands

// opencode may load this more than once in a process: all of them are one.
const gate = (globalThis.barryGate ??= {
  pending: new Map(), // ask -> what settles it
  allowed: new Set(), // calls that Barry allowed
  children: new Set(), // sessions of subagents
  texts: new Set(), // parts that are the agent's words
  begun: new Set(), // calls that were told of as running
  asks: 0,
  hears: false,
})

const say = (line) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...line }) + "\n")

// What Barry says is for this file alone: opencode gets every other line as before.
const listen = () => {
  if (gate.hears) return
  gate.hears = true
  const others = process.stdin.listeners("data")
  const decoder = new TextDecoder()
  let rest = ""
  process.stdin.on("data", (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop()
    for (const line of lines) {
      if (settled(line)) continue
      for (const other of others) other(Buffer.from(line + "\n"))
    }
  })
  for (const other of others) process.stdin.off("data", other)
}

const settled = (line) => {
  if (!line.includes('"_barry/ruled"')) return false
  const { method, params } = JSON.parse(line)
  if (method !== "_barry/ruled") return false
  gate.pending.get(params.ask)?.(params)
  gate.pending.delete(params.ask)
  return true
}

const ruled = async ({ tool, sessionID, callID }, { args }) => {
  listen()
  const ask = ++gate.asks
  const { allow, reason } = await new Promise((settle) => {
    gate.pending.set(ask, settle)
    say({ method: "_barry/ask", params: { ask, tool, session: sessionID, call: callID, args } })
  })
  if (allow !== true) throw new Error(reason)
  gate.allowed.add(callID)
}

// opencode's own protocol says nothing of what a subagent asks.
const answered = (client, { id, sessionID, tool }) => {
  if (!gate.children.has(sessionID)) return
  const response = gate.allowed.has(tool?.callID) ? "once" : "reject"
  return client.postSessionIdPermissionsPermissionId({
    path: { id: sessionID, permissionID: id },
    body: { response },
  })
}

// A subagent's session: a new one, or one of before that goes on.
const childOf = (type, { info, part }) => {
  if (type === "session.created") return info.parentID && info.id
  if (type === "message.part.updated") return part.tool === "task" && part.state.metadata?.sessionId
}

const worthTelling = (type, given) => {
  if (type === "message.part.delta") return given.field === "text" && gate.texts.has(given.partID)
  if (type === "message.updated") return given.info.role === "assistant"
  if (type !== "message.part.updated") return TOLD.has(type)
  const { id, type: kind, tool, callID, state } = given.part
  if (kind === "text") gate.texts.add(id)
  if (kind !== "tool") return kind === "text"
  if (state.status !== "running" || tool === "task") return true
  return !gate.begun.has(callID) && gate.begun.add(callID)
}

const TOLD = new Set(["session.error", "session.status"])

const withoutFiles = (given) =>
  given.part?.state?.attachments
    ? { ...given, part: { ...given.part, state: { ...given.part.state, attachments: undefined } } }
    : given

export const Barry = async ({ client }) => {
  say({ method: "_barry/ready", params: {} })
  return {
    "tool.execute.before": ruled,
    "shell.env": async (_, { env }) => {
      for (const name of Object.keys(process.env)) if (SECRET.test(name)) env[name] = ""
    },
    event: async ({ event: { type, properties } }) => {
      const child = childOf(type, properties)
      if (child) gate.children.add(child)
      if (type === "permission.asked") await answered(client, properties)
      if (worthTelling(type, properties))
        say({ method: "_barry/event", params: { type, ...withoutFiles(properties) } })
    },
  }
}
