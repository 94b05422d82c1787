// Runs discord-digital-twin, which is a library, as a program: node twin.mjs FOLDER-WITH-NODE_MODULES.
// It prints where it is, and then lists the bot's messages and presses their buttons on request.
import http from 'node:http'
import { pathToFileURL } from 'node:url'

const { DigitalDiscord } = await import(
  pathToFileURL(process.argv[2] + '/node_modules/discord-digital-twin/dist/index.js'),
)
const discord = new DigitalDiscord({
  botToken: 'fake.fake.discord-digital-twin',
  channels: [{ name: 'approvals', type: 0 }], users: [{ username: 'Alice' }],
})
await discord.start()
const [channel] = await discord.prisma.channel.findMany()
const alice = await discord.getFirstNonBotUserId()

const control = http.createServer(async (req, res) => {
  try {
    let body = ''
    for await (const chunk of req) body += chunk
    let answer = {}
    if (req.url === '/cards') {
      const all = await discord.prisma.message.findMany({
        where: { channelId: channel.id, authorId: discord.botUserId },
        orderBy: [{ timestamp: 'asc' }, { id: 'asc' }],
      })
      answer = all.map((m) => ({
        id: m.id,
        text: m.content + '\n' + m.embeds,
        buttons: JSON.parse(m.components || '[]').flatMap((row) => row.components ?? []),
      }))
    } else if (req.url === '/tap') {
      const { message, button } = JSON.parse(body)
      const pressed = await discord.channel(channel.id).user(alice).clickButton({ messageId: message, customId: button })
      answer = { id: pressed.id }
    }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(answer))
  } catch (err) {
    res.statusCode = 500
    res.end(String(err))
  }
})
control.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({
    target: '127.0.0.1:' + discord.port,
    control: 'http://127.0.0.1:' + control.address().port,
    token: discord.botToken,
    channel: channel.id,
    alice,
  }))
})
