
// Pi calls the function once. A throw in tool_call stops a call, and the model reads its text; one in
// tool_result would be passed over, so there the result becomes the text.
export default function (pi) {
  const about = (event, ctx) => ({
    session: ctx.sessionManager.getSessionId(), call: event.toolCallId, tool: event.toolName, input: event.input,
    directory: ctx.cwd,
  });
  const warnings = new Map();
  pi.on("tool_call", async (event, ctx) => {
    const answer = await ask("tool_call", about(event, ctx));
    apply(event.input, answer);
    if (answer.context) warnings.set(event.toolCallId, answer.context);
  });
  pi.on("tool_result", async (event, ctx) => {
    const warning = warnings.get(event.toolCallId);
    warnings.delete(event.toolCallId);
    let answer;
    try {
      answer = await ask("tool_result", { ...about(event, ctx), result: event.content, failed: event.isError });
    } catch (err) {
      return { content: [{ type: "text", text: err.message }], isError: true };
    }
    if (answer.notice && ctx.hasUI) ctx.ui.notify(answer.notice, "warning");
    const content = [...("result" in answer ? answer.result : event.content)];
    for (const text of [warning, answer.context]) if (text) content.push({ type: "text", text });
    return { content };
  });
}
