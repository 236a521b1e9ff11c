import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../std/logger.js';
import { loadAgentOptions } from '../options/load-agent-options.js';
import { removeInterruptedWritesOfAgent } from './interrupted-writes.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keelson-agent-interrupted-'));
  mkdirSync(join(root, 'pki'));
});
afterEach(() => rmSync(root, { recursive: true }));

it('temporary files of a killed agent are removed, and no others', async () => {
  const own = [
    'pki/kubelet-client.key.tmp.0123456789ab.tmp',
    'pki/kubelet-client-2026-01-01-00-00-00.pem.0123456789ab.tmp',
    'pki/kubelet-server-2026-01-01-00-00-00.pem.0123456789ab.tmp',
    'pki/kubelet.key.0123456789ab.tmp',
    'kubeconfig.0123456789ab.tmp',
  ];
  const others = [
    'pki/kubelet-client.key.tmp',
    'pki/kubelet-client-2026-01-01-00-00-00.pem',
    'pki/kubelet-client-2026-01-01-00-00-00.pem.tmp',
    'pki/other.key.0123456789ab.tmp',
    'pki/kubelet.key.0123456789ab.tmp.old',
    'pki/kubelet.key.012345.tmp',
    'kubelet.key.0123456789ab.tmp',
    'other-kubeconfig.0123456789ab.tmp',
  ];
  for (const file of [...own, ...others]) writeFileSync(join(root, file), 'a key');
  symlinkSync('kubelet-client-1.pem', join(root, 'pki/kubelet-client-current.pem.0123456789ab.tmp'));
  mkdirSync(join(root, 'pki/kubelet.crt.0123456789ab.tmp'));
  const flags = [`--root-dir=${root}`, `--kubeconfig=${join(root, 'kubeconfig')}`, '--node-name=n1'];
  const loaded = loadAgentOptions([...flags, '--container-runtime-endpoint=none', '--bootstrap-kubeconfig=/none']);
  if (loaded.errors) throw new Error(loaded.errors.join('\n'));
  await removeInterruptedWritesOfAgent({ options: loaded.options, logger: silentLogger });
  const left = readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name !== 'pki');
  expect(left.sort()).toEqual([...others, 'pki/kubelet.crt.0123456789ab.tmp'].sort());
});
