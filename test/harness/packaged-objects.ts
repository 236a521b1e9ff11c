import { loadAll } from 'js-yaml';
import type { Answer, HttpClient } from './http-client.js';

/** An object of a manifest. Untyped, since tests inspect it in many ways. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

export const manifestsOf = (yaml: string): Manifest[] =>
  (loadAll(yaml) as (Manifest | null)[]).filter((one) => one !== null);

/** The collection that an object is created in, by the server's discovery. */
export async function collectionOf(admin: HttpClient, { apiVersion, kind, metadata }: Manifest): Promise<string> {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { body } = await admin.get(base);
  const resources = body.resources as { name: string; kind: string; namespaced: boolean }[];
  const resource = resources.find((one) => one.kind === kind && !one.name.includes('/'))!;
  return `${base}/${resource.namespaced ? `namespaces/${metadata.namespace}/` : ''}${resource.name}`;
}

/** Creates objects with strict field validation, each as a dry run first. Returns refusals and warnings. */
export async function createStrictly(admin: HttpClient, manifests: readonly Manifest[]): Promise<string[]> {
  const problems: string[] = [];
  for (const manifest of manifests) {
    const collection = await collectionOf(admin, manifest);
    for (const query of ['?fieldValidation=Strict&dryRun=All', '?fieldValidation=Strict']) {
      const answer: Answer = await admin.post(collection + query, manifest);
      const name = `${manifest.kind}/${manifest.metadata.name}${query}`;
      if (answer.code !== 201) problems.push(`${name}: ${answer.code} ${answer.body?.message}`);
      problems.push(...answer.warnings.map((warning) => `${name}: ${warning}`));
    }
  }
  return problems;
}
