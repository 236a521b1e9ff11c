import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keelson } from '../../src/testing.js';

/** Writes kubeconfigs for a running server, and other files, to a temporary directory. */
export class ClientKubeconfigs {
  readonly directory = mkdtempSync(join(tmpdir(), 'keelson-clients-'));
  private written = 0;

  /** Writes a file and returns its path. */
  write(name: string, content: string, mode = 0o600): string {
    const path = join(this.directory, name);
    writeFileSync(path, content, { mode });
    return path;
  }

  /** Writes a kubeconfig with one context and returns its path. */
  kubeconfig(
    { url, ca }: Pick<Keelson, 'url' | 'ca'>,
    user: Record<string, unknown>,
    cluster: Record<string, unknown> = {},
  ): string {
    const authority = { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const content = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      clusters: [
        { name: 'c', cluster: { server: url, ...('certificate-authority' in cluster ? {} : authority), ...cluster } },
      ],
      users: [{ name: 'u', user }],
    };
    return this.write(`config-${++this.written}`, JSON.stringify(content));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
