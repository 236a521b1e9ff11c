// Starts a server from the bundle and keeps beside it what V8 compiled by then: functions that a start and the first requests
// need are not compiled again. See docs/adr/007-start-up.md.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileBundle, compiledFile, digestLength, runBundle } from '../bin/run-built.mjs';

const directory = mkdtempSync(join(tmpdir(), 'keelson-compile-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const kubeconfig = join(directory, 'admin.kubeconfig');
rmSync(compiledFile, { force: true });

const script = compileBundle();
await runBundle(script).main('keelson', [
  'serve',
  '--bind-address=127.0.0.1',
  '--secure-port=0',
  `--data-dir=${join(directory, 'data')}`,
  `--kubeconfig-out=${kubeconfig}`,
  '--log-level=error',
]);

const settings = readFileSync(kubeconfig, 'utf8');
const setting = (name) => new RegExp(`^\\s*${name}: ['"]?([^'"\\s]+)`, 'm').exec(settings)[1];
const decoded = (name) => Buffer.from(setting(`${name}-data`), 'base64');
const base = setting('server');
const tls = {
  ca: decoded('certificate-authority'),
  cert: decoded('client-certificate'),
  key: decoded('client-key'),
};
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first' }, data: { a: 'b' } };
const configMaps = '/api/v1/namespaces/default/configmaps';
for (const [method, path, body] of [
  ['GET', '/readyz'],
  ['GET', '/api'],
  ['GET', '/apis'],
  ['POST', configMaps, configMap],
  ['GET', `${configMaps}/first`],
  ['PUT', `${configMaps}/first`, { ...configMap, data: { a: 'c' } }],
  ['GET', configMaps],
  ['GET', `${configMaps}?watch=true&timeoutSeconds=1`],
  ['DELETE', `${configMaps}/first`],
]) {
  const status = await answered(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path} was answered with ${status}`);
}

const digest = readFileSync(new URL('main.js', compiledFile), 'latin1').slice(2, 2 + digestLength);
const unfinished = new URL(`main.compiled.${process.pid}`, compiledFile);
writeFileSync(unfinished, Buffer.concat([script.createCachedData(), Buffer.from(digest, 'latin1')]));
renameSync(unfinished, compiledFile);
process.exit(0);

function answered(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = body && { 'content-type': 'application/json' };
    const sent = request(base + path, { method, headers, ...tls }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}
