// A plugin's end of its line to Barry: one JSON object a line, over the session's own socket.
//
// Beside this file lies line.json, with what the line is opened by. It holds a secret, so it is
// gone once it was read; a plugin that is loaded again keeps the line that it has.
import { readFileSync, rmSync } from "node:fs"
import { connect } from "node:net"

const PATIENCE = 20_000 // ms for a ruling
const AGAIN = 250 // ms between attempts to connect
const ROOM = 1_000_000 // bytes of a line

const refused = (why) => ({ allowed: false, reason: `Barry could not rule on this call: ${why}` })
const UNREACHED = refused("it is not reachable")

// What the plugin was given: {socket, key, session, fingerprint, ...its adapter's own}; null where
// there is nothing to read (any more).
function given() {
  const file = new URL("./line.json", import.meta.url)
  try {
    const read = JSON.parse(readFileSync(file, "utf8"))
    rmSync(file)
    return read
  } catch {
    return null
  }
}

// The one line of this process. `line.given`: what the adapter wrote for its plugin.
//   line.begin()                         opens it, once: tells Barry that the plugin rules
//   line.rule({tool, input, cwd, call})  -> {allowed, reason}; whatever fails is a refusal
//   line.tell(kind, {...})               something happened
//   line.answer = async (frame) => ({})  answers what the adapter asks
export const line = (globalThis.barryLine ??= open(given()))

function open(at) {
  const waiting = new Map() // a question's id -> what settles it
  const line = { given: at ?? {}, answer: () => ({}), begin, rule, tell }
  let socket = null
  let begun = false
  let questions = 0

  const say = (frame) => {
    if (!socket?.writable) return false
    const text = JSON.stringify({ ...frame, key: at.key, session: at.session }) + "\n"
    if (Buffer.byteLength(text) > ROOM) return false
    socket.write(text)
    return true
  }

  async function answered({ id, frame }) {
    let answer
    try {
      answer = await line.answer(frame)
    } catch (error) {
      answer = { ok: false, reason: String(error) }
    }
    say({ ...answer, type: "answer", id })
  }

  const heard = (text) => {
    let frame
    try {
      frame = JSON.parse(text)
    } catch {
      return
    }
    if (frame.type === "ruling") waiting.get(frame.id)?.(frame)
    if (frame.type === "ask") answered(frame)
  }

  function begin() {
    if (!begun && at) reach()
    begun = true
  }

  const reach = () => {
    let rest = ""
    socket = connect(at.socket)
    socket.unref() // the harness may end whenever it likes
    socket.setEncoding("utf8")
    say({ type: "loaded", fingerprint: at.fingerprint })
    socket.on("data", (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()
      lines.forEach(heard)
    })
    socket.on("error", () => {}) // it is closed then
    socket.on("close", () => {
      socket = null
      for (const settle of [...waiting.values()]) settle(UNREACHED)
      setTimeout(reach, AGAIN).unref()
    })
  }

  function rule(call) {
    return new Promise((settle) => {
      const id = ++questions
      const done = (ruling) => {
        clearTimeout(late)
        waiting.delete(id)
        settle(ruling)
      }
      const late = setTimeout(() => done(refused("no answer came in time")), PATIENCE)
      waiting.set(id, done)
      if (!say({ ...call, type: "rule", id })) done(socket ? refused("it is too long") : UNREACHED)
    })
  }

  function tell(kind, about) {
    return say({ ...about, type: "own", kind })
  }

  return line
}
