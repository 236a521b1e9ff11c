import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { generateKeyPairSync } from 'node:crypto';
import { startOpenKeelson, type OpenKeelson } from '../../src/assembly/start-keelson.js';
import type { RequestAuthenticator } from '../../src/auth/request-authenticator.js';
import type { Secret } from '../../src/catalog/types/core.v1.js';
import { holdProcess } from '../../src/std/clock.js';
import { startJwtIssuer } from '../lib/jwt-issuer.js';
import { startTokenWebhook, webhookToken } from '../lib/token-webhook.js';

/**
 * CPU time of each authenticator: cold (a token whose result is not cached) and warm (its further uses), and TLS
 * handshakes a second: `node dist/bench/micro/authentication.js`. `npm run bench -- --only tokens` measures warm GETs.
 */
const rounds = 2_000;
const warmRounds = 200_000;
const handshakes = 200;

async function microsEach(run: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < rounds / 4; i++) await run();
  const before = process.cpuUsage();
  for (let i = 0; i < rounds; i++) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / rounds;
}

const print = (label: string, value: string) => process.stdout.write(`${label.padEnd(44)}${value}\n`);

/** CPU time of further uses of a token, beyond those of a request without any authentication. */
async function warmMicros(authenticator: RequestAuthenticator, token: string): Promise<number> {
  const raw = {
    headers: { authorization: `Bearer ${token}` },
    rawHeaders: [],
    socket: {},
  } as unknown as IncomingMessage;
  if (!(await authenticator.authenticate(raw, '/api'))) throw new Error('the token is rejected');
  const run = () => {
    for (let i = 0; i < warmRounds; i++) void authenticator.authenticate(raw, '/api');
  };
  run();
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / warmRounds;
}

async function measureToken(label: string, authenticator: RequestAuthenticator, token: string): Promise<void> {
  const cold = await microsEach(() => authenticator.review(token, []));
  const warm = await warmMicros(authenticator, token);
  print(label, `cold ${cold.toFixed(1)} µs, warm ${warm.toFixed(2)} µs`);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Creates the Secrets of a bootstrap token and of a service account token, and returns both tokens. */
async function storedTokens({
  url,
  ca,
  client,
  components,
}: OpenKeelson): Promise<{ bootstrap: string; secret: string }> {
  const agent = new Agent({ ca, cert: client.certificate, key: client.key });
  const create = async (namespace: string, object: object) => {
    const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } };
    const sent = request(`${url}/api/v1/namespaces/${namespace}/secrets`, options).end(JSON.stringify(object));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    if (response.statusCode !== 201) throw new Error(`a Secret was answered with ${response.statusCode}`);
  };
  const stringData = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
  };
  const type = 'bootstrap.kubernetes.io/token';
  await create('kube-system', { metadata: { name: 'bootstrap-token-abcdef' }, type, stringData });
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  await create('default', { metadata: { name: 'token', annotations }, type: 'kubernetes.io/service-account-token' });
  const { store } = components.registry.require('', 'v1', 'secrets');
  const tokenIn = () => {
    const secret: Secret | undefined = store.cache.get(store.keyOf('default', 'token'))?.parse();
    return Buffer.from(secret?.data?.['token'] ?? '', 'base64').toString();
  };
  await until(
    () => tokenIn() !== '' && store.cache.get(store.keyOf('kube-system', 'bootstrap-token-abcdef')) !== undefined,
  );
  agent.destroy();
  return { bootstrap: 'abcdef.0123456789abcdef', secret: tokenIn() };
}

async function main(): Promise<void> {
  const hold = holdProcess();
  const directory = mkdtempSync(join(tmpdir(), 'keelson-authentication-'));
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'static,user,1\n');
  const issuer = await startJwtIssuer();
  const webhook = await startTokenWebhook();
  const { url: issuerUrl, audience: clientId, token: issuerToken } = issuer;
  const oidc = { issuerUrl, clientId, caFile: await issuer.caFile(directory), usernamePrefix: '-' };
  const tokenWebhook = { configFile: await webhook.kubeconfig(directory) };
  for (const kind of ['RS256', 'ES256'] as const) {
    const { privateKey } =
      kind === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signingKeyFile = join(directory, `${kind}.key`);
    writeFileSync(signingKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const serviceAccount = { signingKeyFile };
    const keelson = await startOpenKeelson({
      config: { authentication: { tokenAuthFile, bootstrapTokens: true, oidc, tokenWebhook, serviceAccount } },
    });
    const { accountTokens, authenticator, registry } = keelson.components;
    const { store } = registry.require('', 'v1', 'serviceaccounts');
    // The default ServiceAccount is created after the start.
    await until(() => store.cache.get(store.keyOf('default', 'default')) !== undefined);
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
      const { bootstrap, secret } = await storedTokens(keelson);
      // The keys of the issuer are fetched in the background.
      await until(async () => 'user' in (await authenticator.review(issuerToken, [])));
      await measureToken('static token', authenticator, 'static');
      await measureToken('bootstrap token', authenticator, bootstrap);
      await measureToken('service account token in a Secret, RS256', authenticator, secret);
      await measureToken('token of an OpenID issuer, RS256', authenticator, issuerToken);
      await measureToken('token of a webhook that has been asked', authenticator, webhookToken);
      await measureHandshakes(keelson);
    }
    await measureToken(`service account token, ${kind}`, authenticator, token);
    print(
      `issue a service account token, ${kind}`,
      `${(await microsEach(() => accountTokens.issue(subject, life))).toFixed(1)} µs`,
    );
    await keelson.stop();
  }
  issuer.stop();
  webhook.stop();
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
