// Runs the Slack emulator of botarium with ids that are like Slack's: bun botarium.ts FOLDER-OF-BOTARIUM PORT.
const [folder, port] = process.argv.slice(2)
const { startEmulatorServer } = await import(folder + '/packages/slack/src/server/index.ts')
await startEmulatorServer({
  port: Number(port),
  host: '127.0.0.1',
  workspaceConfig: {
    team_id: 'T0HOME1234',
    team_name: 'Home',
    bot: { id: 'U0BOT0001', name: 'approver', display_name: 'approver' },
    users: [
      { id: 'U0ALICE42', name: 'alice', real_name: 'Alice', is_bot: false, profile: { display_name: 'Alice' } },
    ],
    channels: [{ id: 'C0APPROVAL', name: 'approvals', is_channel: true, is_im: false, is_member: true }],
  },
})
console.log('{}')
