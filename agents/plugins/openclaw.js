
// OpenClaw calls register once. It takes a handler that throws, or that is too slow, for a block.
export default {
  id: "approver",
  name: "approver",
  description: "Asks approver before each tool call.",
  register(api) {
    // Where the agent works is only in the settings. Without it nobody can say what a path means.
    const folder = (ctx) => {
      const { agent, config } = api.runtime;
      return agent.resolveAgentWorkspaceDir(config.current(), ctx.agentId ?? "main");
    };
    const id = (event, ctx) => event.toolCallId ?? ctx.toolCallId;
    const about = (event, ctx) => ({
      session: ctx.sessionId ?? ctx.sessionKey ?? ctx.runId, call: id(event, ctx),
      tool: event.toolKind ?? event.toolName, input: event.params, directory: folder(ctx),
    });
    const stopped = new Set(); // these calls do not run, and are reported all the same
    const seconds = hooks.before_tool_call.seconds + 5;
    api.on("before_tool_call", async (event, ctx) => {
      try {
        const answer = await ask("before_tool_call", about(event, ctx));
        // Each handler sees the call as the model made it, and the last arguments that one returns run. So
        // these are returned also unchanged: nobody judged those of a handler before this one.
        return { params: answer.input ?? event.params };
      } catch (err) {
        stopped.add(id(event, ctx));
        return { block: true, blockReason: err.message };
      }
    }, { priority: -1000, timeoutMs: seconds * 1000 }); // the last one to change arguments
    api.on("after_tool_call", async (event, ctx) => {
      if (stopped.delete(id(event, ctx))) return;
      const failed = typeof event.error === "string" && event.error !== "";
      const result = failed ? event.error : (event.result?.content ?? event.result ?? null);
      await ask("after_tool_call", { ...about(event, ctx), result, failed });
    });
  },
};
