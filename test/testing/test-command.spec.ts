import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCommand } from '../harness/command-run.js';

const client = pathToFileURL(join(__dirname, '../../dist/src/client.js')).href;
/** A program that gets `api`, a client of $KUBECONFIG. */
const script = (body: string) => [
  process.execPath,
  '--input-type=module',
  '-e',
  `import { writeFileSync } from 'node:fs';
   import { openKubeconfigClient } from ${JSON.stringify(client)};
   const api = await openKubeconfigClient();
   ${body}`,
];

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'keelson-test-command-'))));
afterEach(() => rmSync(cwd, { recursive: true }));
const run = (...words: string[]) => runCommand({ cwd, words: ['test', ...words] });

it('the program gets a server with the fixtures, and its requests and changes are reported', async () => {
  writeFileSync(join(cwd, 'map.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: before }\n');
  const body = `const maps = '/api/v1/namespaces/default/configmaps';
    await api.patch(maps + '/before', { data: { a: 'b' } });
    for (let n = 0; n < 7; n++) await api.create(maps, { metadata: { name: 'map-' + n } });
    await api.delete('/api/v1/namespaces/default/serviceaccounts/none').catch(() => {});
    console.log(process.env.USE_EXISTING_CLUSTER);
    process.exit(7);`;
  const { code, stdout, stderr } = await run('--fixtures', 'map.yaml', '--', ...script(body));
  expect({ code, stdout }).toEqual({ code: 7, stdout: 'true\n' });
  expect(stderr).toMatch(/9 requests: 7 POST, 1 PATCH, 1 DELETE; answered with an error: 1 × 404/);
  expect(stderr).toMatch(
    /configmaps: 7 new \(default\/map-0, .*default\/map-4 and 2 more\), 1 changed \(default\/before\)\n/,
  );
});

it('an Event, which two groups serve, is reported once', async () => {
  const body = `const namespace = 'default';
    const event = { metadata: { name: 'told', namespace }, involvedObject: { kind: 'Pod', name: 'p', namespace } };
    await api.create('/api/v1/namespaces/default/events', { ...event, reason: 'Told', type: 'Normal', message: 'm' });`;
  const { stderr } = await run('--', ...script(body));
  expect(stderr.split('\n').filter((line) => line.includes('default/told'))).toEqual([
    'keelson test: events: 1 new (default/told)',
  ]);
});

it('the kubeconfig is removed afterwards, and nothing is written into the current directory', async () => {
  const { code, stdout, stderr } = await run('--no-report', '--', ...script(`console.log(process.env.KUBECONFIG);`));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(existsSync(stdout.trim())).toBe(false);
  expect(existsSync(join(cwd, 'keelson-data'))).toBe(false);
});

it('flags of serve are accepted, and wrong ones are named with exit code 125', async () => {
  const body = `writeFileSync('address', (await api.get('/api/v1/namespaces/default/services/kubernetes')).spec.clusterIP)`;
  await run('--service-cluster-ip-range=10.9.0.0/16', '--no-report', '--', ...script(body));
  expect(readFileSync(join(cwd, 'address'), 'utf8')).toBe('10.9.0.1');
  const wrong = await run('--no-such-flag', '--', 'true');
  expect(wrong.code).toBe(125);
  expect(wrong.stderr).toContain('no-such-flag');
});

it.each([
  ['without a program', [], 125, /give a program after --/],
  ['with a fixture that does not exist', ['-f', 'none.yaml', '--', 'true'], 125, /none\.yaml.*there is no such file/],
  ['with a program that does not exist', ['--', 'no-such-program'], 127, /cannot run no-such-program/],
  ['with a program that a signal ends', ['--no-report', '--', 'sh', '-c', 'kill -TERM $$'], 143, /^$/],
])('%s', async (_title, words, code, message) => {
  const outcome = await run(...words);
  expect(outcome.code).toBe(code);
  expect(outcome.stderr).toMatch(message);
});
