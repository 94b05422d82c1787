
// OpenClaw calls register once.
export default {
  id: "approver",
  name: "approver",
  description: "Asks approver before each tool call.",
  register(api) {
    const about = (event, ctx) => ({
      session: ctx.sessionId ?? ctx.sessionKey ?? ctx.runId ?? event.runId, call: event.toolCallId,
      tool: event.toolName, input: event.params, directory: ctx.workspaceDir,
    });
    api.on("before_tool_call", async (event, ctx) => {
      try {
        const answer = await ask("before_tool_call", about(event, ctx));
        return answer.input ? { params: answer.input } : undefined;
      } catch (err) {
        return { block: true, blockReason: err.message };
      }
    }, { priority: -1000 });
  },
};
