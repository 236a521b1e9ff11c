// Exits with 0 if the server in this container is alive: the images have no shell and no curl.
//
//   node healthcheck.mjs [URL]
//
// The certificate is not verified, as by the probes of a kubelet: it may lack the name of the loopback address, and the
// answer decides nothing but a restart.
import { request } from 'node:https';

const url = process.argv[2] ?? 'https://127.0.0.1:6443/livez';
const timeoutMs = 4_000;

function end(code, line) {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}

request(url, { rejectUnauthorized: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
  response.resume();
  end(response.statusCode === 200 ? 0 : 1, `${url}: ${response.statusCode}`);
})
  .on('error', (error) => end(1, `${url}: ${error.message}`))
  .end();
