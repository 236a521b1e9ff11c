import type { KubeObject } from '../../src/machinery/kube-object.js';

/** Path of CustomResourceDefinitions. */
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Options {
  readonly group: string;
  readonly plural: string;
  /** Default: the plural with a capital letter. */
  readonly kind?: string;
  readonly schema: object;
  /** More fields of the version. */
  readonly version?: object;
}

/** Returns a CustomResourceDefinition of a namespaced kind with the version v1. */
export function customResourceDefinition({ group, plural, kind = capitalized(plural), schema, version }: Options) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  } satisfies KubeObject;
}

const capitalized = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
