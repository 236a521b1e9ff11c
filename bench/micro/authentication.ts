import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { generateKeyPairSync } from 'node:crypto';
import { startOpenKeelson } from '../../src/assembly/start-keelson.js';
import { holdProcess } from '../../src/std/clock.js';

/**
 * CPU time of the first use of a token, which is not cached, and TLS handshakes a second:
 * `node dist/bench/micro/authentication.js`.
 */
const rounds = 2_000;
const handshakes = 200;

async function microsEach(run: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < rounds / 4; i++) await run();
  const before = process.cpuUsage();
  for (let i = 0; i < rounds; i++) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / rounds;
}

const print = (label: string, value: string) => process.stdout.write(`${label.padEnd(44)}${value}\n`);

async function main(): Promise<void> {
  const hold = holdProcess();
  const directory = mkdtempSync(join(tmpdir(), 'keelson-authentication-'));
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'static,user,1\n');
  for (const kind of ['RS256', 'ES256'] as const) {
    const { privateKey } =
      kind === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signingKeyFile = join(directory, `${kind}.key`);
    writeFileSync(signingKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const keelson = await startOpenKeelson({
      config: { authentication: { tokenAuthFile, serviceAccount: { signingKeyFile } } },
    });
    const { accountTokens, authenticator, registry } = keelson.components;
    const { store } = registry.require('', 'v1', 'serviceaccounts');
    // The default ServiceAccount is created after the start.
    while (!store.cache.get(store.keyOf('default', 'default'))) await new Promise((resolve) => setTimeout(resolve, 10));
    const { uid = '' } = store.cache.get(store.keyOf('default', 'default'))!.parse().metadata;
    const subject = { namespace: 'default', account: { name: 'default', uid } };
    const life = {
      id: 'id',
      audiences: [accountTokens.issuer],
      nowSeconds: Math.floor(Date.now() / 1000),
      seconds: 3600,
    };
    const token = await accountTokens.issue(subject, life);
    if (kind === 'RS256') {
      print(
        'static token, not cached',
        `${(await microsEach(() => authenticator.review('static', []))).toFixed(1)} µs`,
      );
      print('unknown token', `${(await microsEach(() => authenticator.review('unknown', []))).toFixed(1)} µs`);
      await measureHandshakes(keelson);
    }
    const verified = await microsEach(() => authenticator.review(token, []));
    print(`service account token, ${kind}, not cached`, `${verified.toFixed(1)} µs`);
    print(
      `issue a service account token, ${kind}`,
      `${(await microsEach(() => accountTokens.issue(subject, life))).toFixed(1)} µs`,
    );
    await keelson.stop();
  }
  rmSync(directory, { recursive: true, force: true });
  hold.cancel();
}

interface Listener {
  readonly url: string;
  readonly ca: string;
  readonly client: { readonly certificate: string; readonly key: string };
}

/** Both sides run in this process, so that a handshake of the server alone costs less. */
async function measureHandshakes({ url, ca, client: { certificate, key } }: Listener): Promise<void> {
  const { hostname, port } = new URL(url);
  for (const [label, more] of [
    ['no client certificate', {}],
    ['a client certificate', { cert: certificate, key }],
  ] as const) {
    const one = async () => {
      const socket = connect({ host: hostname, port: Number(port), ca, ALPNProtocols: ['http/1.1'], ...more });
      await once(socket, 'secureConnect');
      socket.destroy();
    };
    for (let i = 0; i < handshakes / 4; i++) await one();
    const before = process.cpuUsage();
    const beganMs = performance.now();
    for (let i = 0; i < handshakes; i++) await one();
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - beganMs) / 1000;
    const micros = (user + system) / handshakes;
    print(`TLS handshake with ${label}`, `${micros.toFixed(0)} µs CPU, ${(handshakes / seconds).toFixed(0)} a second`);
  }
}

await main();
