
// OpenCode calls the function once for each project that it opens. A throw stops a call, and the
// model reads its text.
export const Approver = async ({ directory, client }) => {
  const about = (input, args) => ({
    session: input.sessionID, call: input.callID, tool: input.tool, input: args, directory,
  });
  const tell = async (message) => {
    try {
      await client.tui.showToast({ body: { message, variant: "warning" } });
    } catch {
      // there is no terminal
    }
  };
  const warnings = new Map();
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", about(input, output.args));
      apply(output.args, answer);
      if (answer.context) warnings.set(input.callID, answer.context);
    },
    "tool.execute.after": async (input, output) => {
      const warning = warnings.get(input.callID);
      warnings.delete(input.callID);
      // A tool of OpenCode returns a text, and one of an MCP server a list of contents.
      const key = typeof output?.output === "string" ? "output" : "content";
      const call = { ...about(input, input.args), result: output?.[key] ?? null };
      const answer = await ask("tool.execute.after", call);
      if ("result" in answer) output[key] = answer.result;
      if (answer.notice) tell(answer.notice);
      for (const text of [warning, answer.context]) {
        if (!text) continue;
        if (key === "output") output.output += `\n\n${text}`;
        else if (Array.isArray(output?.content)) output.content.push({ type: "text", text });
      }
    },
  };
};
