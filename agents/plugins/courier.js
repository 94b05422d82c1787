// What follows asks approver about one call: it runs approver-hook with the call on its standard
// input, without a shell. Nothing but a complete answer that is understood lets a call run.
import { spawn } from "node:child_process";

// The longest answer that is read, in bytes.
const most = 8 << 20;

// A decision lets the call run, unless it is none of these.
const permits = ["pass", "allow"];
const known = ["decision", "reason", "input", "result", "context", "notice"];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// ask returns approver's answer to an event, which lets the call run. It throws for every other
// answer, and if there is none.
async function ask(event, call) {
  const line = hooks[event];
  if (!line) throw new Error(`approver has no hook for ${event}, so the call was stopped`);
  const body = JSON.stringify({ plugin: agent, event, ...call });
  const { code, text } = await run(line, body);
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(`approver-hook gave no answer (${code}), so the call was stopped`);
  }
  const understood = isObject(answer) && Object.keys(answer).every((key) => known.includes(key));
  if (understood && answer.decision === "deny" && typeof answer.reason === "string" && answer.reason !== "") {
    throw new Error(answer.reason);
  }
  if (code !== "exit code 0" || !understood || !permits.includes(answer.decision) ||
    ("input" in answer && !isObject(answer.input)) ||
    ["context", "notice"].some((key) => key in answer && typeof answer[key] !== "string")) {
    throw new Error(`the answer of approver-hook is not understood (${code}), so the call was stopped`);
  }
  return answer;
}

// run runs a program and returns how it ended, and what it printed. It waits somewhat longer than
// the program itself does.
function run({ argv: [program, ...args], seconds }, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { shell: false, windowsHide: true, stdio: ["pipe", "pipe", "ignore"] });
    const stop = (why) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`${why}, so the call was stopped`));
    };
    const timer = setTimeout(() => stop(`approver-hook did not end within ${seconds} seconds`), seconds * 1000);
    const chunks = [];
    let size = 0;
    child.stdout.on("data", (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) stop("the answer of approver-hook is too long");
    });
    child.on("error", (err) => stop(`approver-hook cannot be run (${err.message})`));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const how = signal ? `signal ${signal}` : `exit code ${code}`;
      resolve({ code: how, text: Buffer.concat(chunks).toString("utf8") });
    });
    child.stdin.on("error", () => {}); // it answers before it has read everything, if it refuses the call
    child.stdin.end(input);
  });
}

// apply changes a call's arguments in place, which is how the agent takes them, and makes them
// unchangeable: what runs is what was decided, whatever plugins come later.
function apply(args, answer) {
  if (answer.input) {
    for (const key of Object.keys(args)) delete args[key];
    Object.assign(args, answer.input);
  }
  freeze(args);
}

function freeze(value) {
  if (typeof value !== "object" || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}
