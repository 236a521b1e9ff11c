import { setMaxListeners } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServingPair, signerOf } from '../../src/certificates/authority.js';
import { SeededRng } from '../../src/std/rng.js';
import { repeat, type SoakClient } from './soak-client.js';

const namespace = 'soak';
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const mapCount = 300;
const informerCount = 20;
const writerCount = 6;
const secondMs = 1_000;

/** Starts all clients of the soak. Resolves when they have stopped. */
export async function runLoad(client: SoakClient, directory: string, stop: AbortSignal): Promise<void> {
  setMaxListeners(0, stop);
  const rng = new SeededRng(1);
  const between = (low: number, high: number) => low + rng.below(high - low);
  await client.ask('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  const loops: Promise<void>[] = [];
  const start = (pauseMs: () => number, task: () => Promise<void>) => loops.push(repeat(client, stop, pauseMs, task));
  for (let n = 0; n < writerCount; n++)
    start(
      () => between(10, 40),
      () => write(client, rng),
    );
  for (let n = 0; n < informerCount; n++) {
    const path = n % 3 === 0 ? `${maps}?labelSelector=color%3Dred` : n % 3 === 1 ? maps : '/api/v1/configmaps';
    start(
      () => between(50, 500),
      () => follow(client, path, () => between(2, 60) * secondMs, stop),
    );
  }
  start(
    () => between(100, 300),
    () => list(client, rng),
  );
  start(
    () => between(300, 600),
    () => churnTokens(client, rng),
  );
  start(
    () => between(2, 5) * secondMs,
    () => comeAndGo(client, rng),
  );
  start(
    () => 30 * secondMs,
    () => replaceCertificate(join(directory, 'pki')),
  );
  await Promise.all(loops);
}

const bodyOf = (name: string, rng: SeededRng) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: {
    name,
    labels: { color: rng.below(4) === 0 ? 'red' : 'blue' },
    annotations: { n: String(rng.below(1e9)) },
  },
  data: { text: 'x'.repeat(200 + rng.below(3_000)) },
});

async function write(client: SoakClient, rng: SeededRng): Promise<void> {
  const name = `map-${rng.below(mapCount)}`;
  const body = bodyOf(name, rng);
  const { code } = await client.ask('PUT', `${maps}/${name}`, { body });
  if (code === 404) await client.ask('POST', maps, { body });
  const kind = rng.below(8);
  if (kind === 0) await client.ask('DELETE', `${maps}/${name}`);
  const annotations = { patched: String(rng.below(1e9)) };
  if (kind < 3) {
    const contentType = 'application/merge-patch+json';
    await client.ask('PATCH', `${maps}/${name}`, { body: { metadata: { annotations } }, contentType });
  } else if (kind === 3) {
    const contentType = 'application/apply-patch+yaml';
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations } };
    const path = `${maps}/${name}?fieldManager=manager-${rng.below(5)}&force=true`;
    await client.ask('PATCH', path, { body: applied, contentType });
  } else await client.ask('GET', `${maps}/${name}`);
}

/** An informer: one list, then watches that follow each other. */
async function follow(client: SoakClient, path: string, watchMs: () => number, stop: AbortSignal): Promise<void> {
  const { text } = await client.ask('GET', `${path}${path.includes('?') ? '&' : '?'}resourceVersion=0`);
  let version: string | undefined = (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata
    .resourceVersion;
  for (let watches = 0; watches < 5 && version !== undefined && !stop.aborted; watches++)
    version = await client.watch(path, version, stop.aborted ? 0 : watchMs());
}

async function list(client: SoakClient, rng: SeededRng): Promise<void> {
  const kind = rng.below(4);
  if (kind === 0) await client.ask('GET', maps, { headers: { 'accept-encoding': 'gzip' } });
  if (kind === 1) await client.ask('GET', `${maps}?labelSelector=color%3Dred`);
  if (kind === 2) await client.ask('GET', '/api/v1/configmaps?resourceVersion=0');
  if (kind < 3) return;
  let token: string | undefined = '';
  while (token !== undefined) {
    const { text } = await client.ask('GET', `${maps}?limit=50${token && `&continue=${encodeURIComponent(token)}`}`);
    token = (JSON.parse(text) as { metadata?: { continue?: string } }).metadata?.continue;
  }
}

/** An account that gets a token, uses it, and is deleted. */
async function churnTokens(client: SoakClient, rng: SeededRng): Promise<void> {
  const name = `account-${rng.below(1e6)}`;
  await client.ask('POST', accounts, { body: { metadata: { name } } });
  const spec = { expirationSeconds: 600 + rng.below(600) };
  const { text } = await client.ask('POST', `${accounts}/${name}/token`, { body: { spec } });
  const { status } = JSON.parse(text) as { status?: { token?: string } };
  if (status?.token !== undefined) await client.ask('GET', '/version', { token: status.token });
  await client.ask('DELETE', `${accounts}/${name}`);
}

/** A kind that is defined, used and removed. */
async function comeAndGo(client: SoakClient, rng: SeededRng): Promise<void> {
  const group = `g${rng.below(1_000)}.soak.example.com`;
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum: 0 } } } },
    },
  };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group, names, scope: 'Namespaced', versions };
  await client.ask('POST', definitions, { body: { metadata: { name: `things.${group}` }, spec } });
  const path = `/apis/${group}/v1/namespaces/${namespace}/things`;
  for (let attempt = 0; attempt < 100 && (await client.ask('GET', path)).code === 404; attempt++) await sleep(50);
  for (let n = 0; n < 5; n++) {
    const body = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: `thing-${n}` }, spec: { size: n } };
    await client.ask('POST', path, { body });
  }
  await client.watch(path, '0', 1_000);
  await client.ask('DELETE', `${definitions}/things.${group}`);
  for (let attempt = 0; attempt < 100 && (await client.ask('GET', path)).code !== 404; attempt++) await sleep(100);
}

/** Replaces the serving certificate by another one of the same CA, which the server loads within 5 s. */
async function replaceCertificate(pki: string): Promise<void> {
  const signer = signerOf(
    readFileSync(join(pki, 'ca.crt'), 'utf8'),
    createPrivateKey(readFileSync(join(pki, 'ca.key'))),
  );
  const names = { dns: ['localhost', 'kubernetes'], ip: ['127.0.0.1'], refused: [] };
  const { certificate, key } = await makeServingPair(signer, names, Date.now());
  for (const [name, text] of [
    ['apiserver.key', key],
    ['apiserver.crt', certificate],
  ] as const) {
    writeFileSync(join(pki, `${name}.next`), text, { mode: 0o600 });
    renameSync(join(pki, `${name}.next`), join(pki, name));
  }
}
