import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfig } from '../certificates/kubeconfig.js';
import type { Pki } from '../certificates/pki.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from '../kubeconfig-client/open-client.js';
import type { Fields } from '../machinery/fields.js';

export interface TestUserOptions {
  readonly groups?: readonly string[];
  /** Names of ClusterRoles that are bound to the user in the whole cluster: `['edit']`. */
  readonly clusterRoles?: readonly string[];
}

/** A user with a client certificate. */
export interface TestUser {
  readonly name: string;
  readonly kubeconfig: string;
  readonly api: KubeconfigClient;
  /** Writes the kubeconfig to a temporary file, which stop() of the server removes, and returns its path. */
  kubeconfigFile(): Promise<string>;
}

interface Issuer {
  readonly pki: Pki;
  readonly url: string;
  readonly ca: string;
}

/** Returns a user whose certificate the server's own CA signs. It has only the permissions that RBAC gives it. */
export async function makeTestUser(
  { pki, url, ca }: Issuer,
  name: string,
  groups: readonly string[],
  files: TemporaryFiles,
): Promise<TestUser> {
  const user = await pki.issueClient({ commonName: name, organizations: [...groups] });
  const text = kubeconfig({ server: url, certificateAuthority: ca, user });
  const api = await openKubeconfigClient({ text });
  return { name, kubeconfig: text, api, kubeconfigFile: () => files.write(text) };
}

/** The bindings of the ClusterRoles of a user. */
export function roleBindingsOf(name: string, { clusterRoles = [] }: TestUserOptions): Fields[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  return clusterRoles.map((role) => ({
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `keelson-testing:${name}:${role}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name }],
  }));
}

/** Kubeconfigs in a directory that only this user can read. */
export class TemporaryFiles {
  private directory: Promise<string> | undefined;
  private count = 0;

  async write(text: string): Promise<string> {
    this.directory ??= mkdtemp(join(tmpdir(), 'keelson-'));
    const file = join(await this.directory, `kubeconfig-${(this.count += 1)}`);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  async remove(): Promise<void> {
    if (this.directory) await rm(await this.directory, { recursive: true, force: true });
  }
}
