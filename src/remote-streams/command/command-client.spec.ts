import { Writable } from 'node:stream';
import { socketPair } from '../../../test/harness/socket-pair.js';
import { ManualClock } from '../../std/clock.js';
import { SpdyConnection } from '../spdy/spdy-connection.js';
import type { SpdyStream } from '../spdy/spdy-stream.js';
import { runCommand } from './command-client.js';
import { encodeStatus, success } from './command-status.js';

it('the outcome of a command comes after its output has been written to a slow client', async () => {
  const clock = new ManualClock();
  const [clientSocket, serverSocket] = await socketPair();
  const text = 'line of output\n'.repeat(20_000);
  const onStream = (stream: SpdyStream) => {
    if (stream.headers.get('streamtype') === 'stdout') stream.end(text);
    else stream.end(encodeStatus(success));
    return true;
  };
  const server = new SpdyConnection(serverSocket, { clock, isServer: true, onStream });
  const client = new SpdyConnection(clientSocket, { clock, isServer: false });
  let written = '';
  const stdout = new Writable({
    highWaterMark: text.length * 2,
    write(chunk: Buffer, _encoding, done) {
      setTimeout(() => {
        written += chunk.toString();
        done();
      }, 5);
    },
  });
  expect(await runCommand(client, 'v4.channel.k8s.io', { stdout })).toMatchObject({ status: 'Success' });
  expect(written).toBe(text);
  client.close();
  server.close();
  clientSocket.destroy();
  serverSocket.destroy();
});
