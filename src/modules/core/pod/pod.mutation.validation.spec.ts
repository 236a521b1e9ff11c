import type { KubeObject } from '../../../machinery/kube-object.js';
import {
  pod,
  podStrategy,
  podSubresources,
  updateErrors,
  writeThroughSubresource,
} from '../../../../test/harness/pods.js';
import { prepared, testContext, texts } from '../../../../test/harness/strategies.js';

const { statusSubresource, ephemeralContainersSubresource, resizeSubresource } = podSubresources;

const term = (...keys: string[]) => ({ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) });
const nodes = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const selectorAdditionsOnly = expect.stringMatching(
  /^spec\.nodeSelector: Invalid value: .*: only additions to spec.nodeSelector are allowed \(no mutations or deletions\)$/,
) as string;
const termsPath = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const invalidAt = (field: string, detail: string) =>
  ({
    asymmetricMatch: (text: string) => text.startsWith(`${field}: Invalid value: `) && text.endsWith(detail),
  }) as unknown as string;
const termCountFixed = invalidAt(termsPath, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
const termAdditionsOnly = invalidAt(`${termsPath}[0]`, 'only additions are allowed (no mutations or deletions)');
const otherFieldsImmutable = expect.stringContaining(
  'spec: Forbidden: pod updates may not change fields other than',
) as string;
const gated = { schedulingGates: [{ name: 'g' }] };

it.each<[string, object, object, string[]]>([
  [
    'added scheduling gate is rejected',
    {},
    gated,
    ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"],
  ],
  ['removed scheduling gate is accepted', gated, { schedulingGates: undefined }, []],
  ['added nodeSelector is accepted while gated', gated, { nodeSelector: { a: 'b' } }, []],
  [
    'added nodeSelector label is accepted while gated',
    { ...gated, nodeSelector: { a: 'b' } },
    { nodeSelector: { a: 'b', c: 'd' } },
    [],
  ],
  [
    'changed nodeSelector label is rejected while gated',
    { ...gated, nodeSelector: { a: 'b' } },
    { nodeSelector: { a: 'c' } },
    [selectorAdditionsOnly],
  ],
  [
    'removed nodeSelector is rejected while gated',
    { ...gated, nodeSelector: { a: 'b' } },
    { nodeSelector: undefined },
    [selectorAdditionsOnly],
  ],
  [
    'nodeSelector removed with the last gate is rejected',
    { ...gated, nodeSelector: { a: 'b' } },
    { schedulingGates: undefined, nodeSelector: undefined },
    [selectorAdditionsOnly],
  ],
  ['added node affinity is accepted while gated', gated, nodes(term('a')), []],
  [
    'added node affinity requirement is accepted while gated',
    { ...gated, ...nodes(term('a')) },
    nodes(term('a', 'b')),
    [],
  ],
  [
    'removed node affinity is rejected while gated',
    { ...gated, ...nodes(term('a')) },
    { affinity: undefined },
    [termCountFixed],
  ],
  [
    'added nodeSelectorTerm is rejected while gated',
    { ...gated, ...nodes(term('a')) },
    nodes(term('a'), term('b')),
    [termCountFixed],
  ],
  [
    'replaced nodeSelectorTerm is rejected while gated',
    { ...gated, ...nodes(term('a')) },
    nodes(term('b')),
    [termAdditionsOnly],
  ],
  [
    'shortened nodeSelectorTerm is rejected while gated',
    { ...gated, ...nodes(term('a', 'b')) },
    nodes(term('a')),
    [termAdditionsOnly],
  ],
  [
    'added preferred node affinity is accepted while gated',
    { ...gated, ...nodes(term('a')) },
    {
      affinity: {
        nodeAffinity: {
          ...nodes(term('a')).affinity.nodeAffinity,
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term('x') }],
        },
      },
    },
    [],
  ],
  [
    'added podAffinity is rejected while gated',
    gated,
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k' }] } } },
    [otherFieldsImmutable],
  ],
])('Pod update: %s', (_name, old, spec, want) => expect(updateErrors(old, spec)).toEqual(want));

const mirror = 'kubernetes.io/config.mirror';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/c';
const annotated = (key?: string, value = 'v', spec: object = {}): KubeObject => {
  const { metadata, ...rest } = prepared(podStrategy, pod(spec));
  return { ...rest, metadata: { ...metadata, ...(key && { annotations: { [key]: value } }) } };
};

describe('immutable annotations', () => {
  // prettier-ignore
  const rows: [KubeObject, KubeObject, string | undefined][] = [
    [annotated(), annotated('other'), undefined],
    [annotated(mirror), annotated(mirror), undefined],
    [annotated(), annotated(mirror), `metadata.annotations[${mirror}]: Forbidden: may not add mirror pod annotation`],
    [annotated(mirror), annotated(), `metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`],
    [annotated(mirror), annotated(mirror, 'w'), `metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`],
    [annotated(), annotated(appArmor), `metadata.annotations[${appArmor}]: Forbidden: may not add AppArmor annotations`],
    [annotated(appArmor), annotated(appArmor, 'w'), `metadata.annotations[${appArmor}]: Forbidden: may not remove or update AppArmor annotations`],
  ];
  it.each(rows)('update from %j to %j has the expected error', (old, change, want) => {
    expect(texts(podStrategy.validateUpdate!(change, old, testContext))).toEqual(want ? [want] : []);
    expect(writeThroughSubresource(statusSubresource, old, change).errors).toEqual(want ? [want] : []);
  });

  it('mirror Pod cannot be resized and cannot get ephemeral containers', () => {
    const old = annotated(mirror);
    expect(writeThroughSubresource(resizeSubresource, old, old).errors).toEqual([
      ': Forbidden: static pods cannot be resized',
    ]);
    expect(writeThroughSubresource(ephemeralContainersSubresource, old, old).errors).toEqual([
      ': Forbidden: static pods do not support ephemeral containers',
    ]);
  });
});
