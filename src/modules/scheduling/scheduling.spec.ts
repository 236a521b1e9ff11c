import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { podGroupStatusSubresource, podGroupStrategy } from './pod-group.strategy.js';
import { priorityClassStrategy } from './priority-class.strategy.js';
import { priorityClassTable } from './priority-class.table.js';
import { workloadStrategy } from './workload.strategy.js';

const object = (kind: string, fields: object): KubeObject => ({
  kind,
  apiVersion: 'scheduling.k8s.io/v1',
  metadata: { name: 'p' },
  ...fields,
});

describe('PriorityClass', () => {
  const strategy = priorityClassStrategy(namingProfile('kubernetes'));
  const priorityClass = (fields: object, name = 'p') =>
    object('PriorityClass', { value: 1000, metadata: { name }, ...fields });
  const reserved = (name: string, problem: string) =>
    `metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ${problem.replaceAll('$', name)}`;

  it.each<[string, KubeObject, string[]]>([
    ['a value', priorityClass({}), []],
    ['a negative one', priorityClass({ value: -2147483648 }), []],
    ['one of the system', priorityClass({ value: 2000000000 }, 'system-cluster-critical'), []],
    [
      'too high',
      priorityClass({ value: 1000000001 }),
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      'a reserved name',
      priorityClass({}, 'system-x'),
      [reserved('system-x', '$ is not a known system priority class')],
    ],
    [
      'another value for the system',
      priorityClass({}, 'system-node-critical'),
      [reserved('system-node-critical', 'value of $ PriorityClass must be 2000001000')],
    ],
    [
      'the system as the default',
      priorityClass({ value: 2000001000, globalDefault: true }, 'system-node-critical'),
      [reserved('system-node-critical', 'globalDefault of $ PriorityClass must be false')],
    ],
    ['another policy', priorityClass({ preemptionPolicy: '' }), ['preemptionPolicy: Required value']],
    [
      'another preemption',
      priorityClass({ preemptionPolicy: 'X' }),
      ['preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"'],
    ],
  ])('with %s is validated', (_name, object, want) => expect(refusals(strategy, object)).toEqual(want));

  it.each<[object, string[]]>([
    [{ description: 'd', globalDefault: true }, []],
    [{ value: 5 }, ['value: Forbidden: may not be changed in an update.']],
    [{ preemptionPolicy: 'Never' }, ['preemptionPolicy: Invalid value: "Never": field is immutable']],
  ])('an update by %j is validated', (fields, want) =>
    expect(updateRefusals(strategy, priorityClass(fields), priorityClass({}))).toEqual(want),
  );

  it('a system class cannot be deleted', () => {
    const { refuse } = strategy.deletion!;
    expect(() => refuse!(priorityClass({}))).not.toThrow();
    expect(() => refuse!(priorityClass({}, 'system-node-critical'))).toThrow(
      'this is a system priority class and cannot be deleted',
    );
  });

  it('has a table row', () =>
    expect(priorityClassTable.cells(prepared(strategy, priorityClass({})), { nowMs: 0 })).toEqual([
      ...['p', 1000, false, '<unknown>', 'PreemptLowerPriority'],
    ]));
});

const gang = { schedulingPolicy: { gang: { minCount: 2 } } };
const claims = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `c${i}`, resourceClaimName: 'x' }));

describe('PodGroup', () => {
  const group = (spec: object, status?: object) => object('PodGroup', { spec, ...(status && { status }) });

  it.each<[string, object, string[]]>([
    ['a gang', gang, []],
    ['no gang', { schedulingPolicy: { basic: {} } }, []],
    [
      'of a template',
      { ...gang, podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 't' } } },
      [],
    ],
    [
      'no policy',
      { schedulingPolicy: {} },
      ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'],
    ],
    [
      'two policies',
      { schedulingPolicy: { basic: {}, gang: { minCount: 1 } } },
      ['spec.schedulingPolicy: Invalid value: "{`basic`, `gang`}": must specify exactly one of: `basic`, `gang`'],
    ],
    ['a gang of nobody', { schedulingPolicy: { gang: {} } }, ['spec.schedulingPolicy.gang.minCount: Required value']],
    [
      'a negative gang',
      { schedulingPolicy: { gang: { minCount: -1 } } },
      ['spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1'],
    ],
    [
      'many claims',
      { ...gang, resourceClaims: claims(5) },
      ['spec.resourceClaims: Too many: 5: must have at most 4 items'],
    ],
    [
      'a claim of nothing',
      { ...gang, resourceClaims: [{ name: 'c' }] },
      [
        'spec.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
    [
      'two topologies',
      { ...gang, schedulingConstraints: { topology: [{ key: 'a' }, { key: 'b' }] } },
      ['spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item'],
    ],
    [
      'a template without a name',
      { ...gang, podGroupTemplateRef: { workload: { workloadName: 'w' } } },
      ['spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value'],
    ],
    [
      'a priority of the system',
      { ...gang, priority: 1000000001 },
      ['spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000'],
    ],
  ])('with %s is validated', (_name, spec, want) => expect(refusals(podGroupStrategy, group(spec))).toEqual(want));

  it('has an immutable spec', () =>
    expect(updateRefusals(podGroupStrategy, group({ schedulingPolicy: { basic: {} } }), group(gang))).toEqual([
      'spec.schedulingPolicy: Invalid value: {"basic":{}}: field is immutable',
    ]));

  it.each<[object, string[]]>([
    [{ resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'x' }] }, []],
    [
      { resourceClaimStatuses: [{ name: 'c' }, { name: 'c' }] },
      ['status.resourceClaimStatuses[1]: Duplicate value: "c"'],
    ],
    [
      { conditions: [{ type: 'T', status: 'True', reason: 'R' }] },
      ['status.conditions[0].lastTransitionTime: Required value'],
    ],
  ])('with the status %j is validated', (status, want) =>
    expect(texts(podGroupStatusSubresource.validate!(group(gang, status), group(gang), testContext))).toEqual(want),
  );
});

describe('Workload', () => {
  const workload = (spec: object) => object('Workload', { spec });
  const template = { name: 't', ...gang };

  it.each<[string, object, string[]]>([
    ['a template', { podGroupTemplates: [template] }, []],
    ['no template', {}, ['spec.podGroupTemplates: Required value']],
    ['no name', { podGroupTemplates: [gang] }, ['spec.podGroupTemplates[0].name: Required value']],
    [
      'a template twice',
      { podGroupTemplates: [template, template] },
      ['spec.podGroupTemplates[1]: Duplicate value: "t"'],
    ],
    [
      'many templates',
      { podGroupTemplates: Array.from({ length: 9 }, (_, i) => ({ ...template, name: `t${i}` })) },
      ['spec.podGroupTemplates: Too many: 9: must have at most 8 items'],
    ],
    [
      'a controller without a name',
      { podGroupTemplates: [template], controllerRef: { kind: 'Job' } },
      ['spec.controllerRef.name: Required value'],
    ],
  ])('with %s is validated', (_name, spec, want) => expect(refusals(workloadStrategy, workload(spec))).toEqual(want));

  it('has immutable podGroupTemplates', () =>
    expect(
      updateRefusals(
        workloadStrategy,
        workload({ podGroupTemplates: [{ ...template, name: 'u' }] }),
        workload({ podGroupTemplates: [template] }),
      ).map((error) => error.split(':')[0]),
    ).toEqual(['spec.podGroupTemplates']));
});
