import { asFields, asText, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { StoredVersion } from '../../registry/resource-definition.js';
import { generationAnnotation } from './daemon-set.strategy.js';

/**
 * Versions in which older servers stored workloads. v1beta2 has the fields of v1; in the versions before it a selector
 * was optional, some defaults were others, and two fields have since become annotations.
 */
const extensions = { group: 'extensions', version: 'v1beta1' } as const;
const appsV1Beta1 = { group: 'apps', version: 'v1beta1' } as const;
const rollbackAnnotation = 'deprecated.deployment.rollback.to';
const noLimit = 2 ** 31 - 1;

export const storedDeployments: readonly StoredVersion[] = [
  {
    ...extensions,
    toHub: (stored) => {
      const { object, spec } = withSelector(stored);
      fillIn(spec, 'strategy', { type: 'RollingUpdate' });
      const strategy = asFields(spec['strategy']);
      if (asText(strategy['type']) === 'RollingUpdate') {
        fillIn(makeFields(strategy, 'rollingUpdate'), 'maxUnavailable', 1);
        fillIn(asFields(strategy['rollingUpdate']), 'maxSurge', 1);
      }
      fillIn(spec, 'revisionHistoryLimit', noLimit);
      fillIn(spec, 'progressDeadlineSeconds', noLimit);
      return withRollback(object, spec);
    },
  },
  {
    ...appsV1Beta1,
    toHub: (stored) => {
      const { object, spec } = withSelector(stored);
      fillIn(spec, 'revisionHistoryLimit', 2);
      return withRollback(object, spec);
    },
  },
];

export const storedReplicaSets: readonly StoredVersion[] = [
  { ...extensions, toHub: (stored) => withSelector(stored).object },
];

export const storedStatefulSets: readonly StoredVersion[] = [
  {
    ...appsV1Beta1,
    toHub: (stored) => {
      const { object, spec } = withSelector(stored);
      fillIn(spec, 'updateStrategy', { type: 'OnDelete' });
      return object;
    },
  },
];

export const storedDaemonSets: readonly StoredVersion[] = [
  {
    ...extensions,
    toHub: (stored) => {
      const { object, spec } = withSelector(stored);
      fillIn(spec, 'updateStrategy', { type: 'OnDelete' });
      const { templateGeneration } = spec;
      delete spec['templateGeneration'];
      return isSet(templateGeneration) ? annotated(object, generationAnnotation, String(templateGeneration)) : object;
    },
  },
];

/** A copy whose spec may be changed, with the labels of its template as its selector where it had none. */
function withSelector(stored: KubeObject): { object: KubeObject; spec: Fields } {
  const spec = { ...asFields(stored['spec']) };
  const object = { ...stored, metadata: { ...stored.metadata }, spec };
  const { labels } = asFields(asFields(spec['template'])['metadata']);
  if (isSet(labels)) {
    fillIn(spec, 'selector', { matchLabels: { ...asFields(labels) } });
    fillIn(object.metadata, 'labels', { ...asFields(labels) });
  }
  return { object, spec };
}

function withRollback(object: KubeObject, spec: Fields): KubeObject {
  const { rollbackTo } = spec;
  delete spec['rollbackTo'];
  if (!isSet(rollbackTo)) return object;
  return annotated(object, rollbackAnnotation, String((asFields(rollbackTo)['revision'] as number | undefined) ?? 0));
}

function annotated(object: KubeObject, annotation: string, value: string): KubeObject {
  object.metadata.annotations = { ...object.metadata.annotations, [annotation]: value };
  return object;
}
