// Which file pi itself will use: what a call is ruled on, rather than the words that name it.
import { accessSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, resolve } from "node:path"

const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g

// Where pi itself will look for a path: it drops a leading "@", knows "~", and takes rare spaces
// for plain ones. A ruling on the words alone would be on another file.
function place(path, cwd) {
  const plain = path.replace(/^@/, "").replace(SPACES, " ")
  if (plain === "~") return homedir()
  if (plain.startsWith("~/")) return homedir() + plain.slice(1)
  return isAbsolute(plain) ? plain : resolve(cwd, plain)
}

function exists(path) {
  try {
    accessSync(path)
    return true
  } catch {
    return false
  }
}

// A file to be read that isn't there is looked for under spellings that look alike.
function spelled(path) {
  const decomposed = path.normalize("NFD")
  const likes = [
    path,
    path.replace(/ (AM|PM)\./gi, "\u202F$1."),
    decomposed,
    path.replace(/'/g, "\u2019"),
    decomposed.replace(/'/g, "\u2019"),
  ]
  return likes.find(exists) ?? path
}

const WITH_PATH = new Set(["read", "edit", "write", "grep", "find", "ls"])

// A call's input with the file that pi will use in it.
export function asRun(tool, input, cwd) {
  if (!WITH_PATH.has(tool)) return input
  const path = place(input.path || ".", cwd)
  return { ...input, path: tool === "read" ? spelled(path) : path }
}
