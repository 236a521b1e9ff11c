import { namingProfile } from '../../src/config/naming-profile.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { podRules } from '../../src/modules/core/pod/pod.strategy.js';
import type { ViewSubresource } from '../../src/registry/definition/resource-definition.js';
import { prepared, prepareUpdate, refusals, testContext, texts } from './strategies.js';

const { strategy, ...subresources } = podRules(namingProfile('kubernetes'));
export const podStrategy = strategy;
export const podSubresources = subresources;

/** A row of a table of Pods: what the Pod has, the Pod, the errors of its creation. */
export type PodRow = [name: string, pod: KubeObject, errors: string[]];

/** A Pod that is valid except for the fields in `spec`. */
export const pod = (spec: object = {}, status?: object): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'd' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  ...(status && { status }),
});

/** A Pod that is valid except for the fields in its only container, and in `spec`. */
export const podWithContainer = (container: object, spec: object = {}): KubeObject =>
  pod({ containers: [{ name: 'c', image: 'i', ...container }], ...spec });

export const podErrors = (object: KubeObject): string[] => refusals(strategy, object);

/** Requires exactly these errors of a create, in any order. */
export function expectPodErrors(object: KubeObject, errors: readonly string[]): void {
  expect(new Set(podErrors(object))).toEqual(new Set(errors));
}

/** Returns the errors of an update of a Pod with `oldSpec`, in which the fields of `spec` change. */
export function updateErrors(oldSpec: object, spec: object): string[] {
  const old = prepared(strategy, pod(oldSpec));
  const change = prepared(strategy, pod({ ...oldSpec, ...spec }));
  prepareUpdate(strategy, change, old);
  return texts(strategy.validateUpdate!(change, old, testContext));
}

/** Writes `view` through a subresource. Requires that it changes no argument. */
export function writeThroughSubresource(
  subresource: ViewSubresource,
  old: KubeObject,
  view: KubeObject,
): { object: KubeObject; errors: string[] } {
  const before = structuredClone(old);
  const object = structuredClone(subresource.put(old, view));
  strategy.default!(object);
  const errors = texts(subresource.validate!(object, old, testContext));
  expect(old).toEqual(before);
  return { object, errors };
}

export const notQualifiedName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
export const notDnsLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
export const notDnsSubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
export const notLabelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
export const notIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
