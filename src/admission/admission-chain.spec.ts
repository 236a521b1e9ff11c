import { attributesOf, hooksOf, podOf } from '../../test/harness/admission.js';
import type { Pod } from '../catalog/types/core.v1.js';
import type { Mutable } from '../machinery/mutable.js';
import { ApiError } from '../machinery/api-error.js';
import { ManualClock } from '../std/clock.js';
import { AdmissionChain, type AdmissionObserver } from './admission-chain.js';
import type { AdmissionAttributes, AdmissionPlugin } from './admission-plugin.js';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.plugin.js';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.plugin.js';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.plugin.js';
import { priority } from './plugins/priority.plugin.js';

/** An update whose object shares all nested values with the old one. */
function sharingUpdate(spec: object = {}): AdmissionAttributes {
  const attributes = attributesOf({ object: podOf(spec), operation: 'UPDATE' });
  return { ...attributes, old: { ...attributes.object! } };
}

const schedule: AdmissionPlugin = {
  name: 'Schedule',
  isOwn: true,
  admit({ object }) {
    const pod: Mutable<Pod> = object!;
    pod.spec!.containers![0]!.image = 'changed';
    pod.metadata.labels = { a: 'b' };
  },
};

it('a plug-in of an embedding program may change nested values of an update: the old object keeps its own', async () => {
  const attributes = sharingUpdate();
  const before = structuredClone(attributes.old);
  await new AdmissionChain([schedule]).admit(attributes);
  expect(attributes.old).toEqual(before);
  expect(attributes.object).toMatchObject({ metadata: { labels: { a: 'b' } }, spec: { containers: [{ image: 'changed' }] } }); // prettier-ignore
});

const resources = { requests: { cpu: '1', 'example.com/gpu': '1' } };
it.each([
  ['DefaultTolerationSeconds', defaultTolerationSeconds, {}],
  ['PodTolerationRestriction', podTolerationRestriction, { containers: [{ name: 'c', resources }] }],
  ['ExtendedResourceToleration', extendedResourceToleration, { containers: [{ name: 'c', resources }] }],
])('%s changes the spec of an updated Pod, and not that of the old one', async (name, definition, spec) => {
  const attributes = sharingUpdate(spec);
  const before = structuredClone(attributes.old);
  const hooks = hooksOf(definition, { known: { '/namespaces': [{ metadata: { name: 'ns' } }] } });
  await new AdmissionChain([{ ...hooks, name }]).admit(attributes);
  expect(attributes.old).toEqual(before);
  expect((attributes.object!['spec'] as { tolerations?: object[] }).tolerations?.length).toBeGreaterThan(0);
});

it('Priority keeps the priority of an updated Pod without changing the submitted spec that is shared', async () => {
  const attributes = { ...sharingUpdate(), old: attributesOf({ object: podOf({ priority: 7 }) }).object };
  const submitted = attributes.object!['spec'];
  await new AdmissionChain([{ ...hooksOf(priority), name: 'Priority' }]).admit(attributes);
  expect([attributes.object!['spec'], submitted]).toMatchObject([{ priority: 7 }, {}]);
  expect(submitted).not.toHaveProperty('priority');
});

it('a plug-in that asks for it makes admit of all run once more', async () => {
  const ran: string[] = [];
  let asks = 0;
  const plugins: AdmissionPlugin[] = [
    { name: 'First', admit: () => void ran.push('First') },
    { name: 'Asking', admit: () => void ran.push('Asking'), needsReinvocation: () => asks++ === 0 },
    { name: 'Last', admit: () => void ran.push('Last'), validate: () => void ran.push('Validating') },
  ];
  await new AdmissionChain(plugins).admitAndValidate(attributesOf({ object: podOf() }));
  expect(ran).toEqual(['First', 'Asking', 'Last', 'First', 'Asking', 'Last', 'Validating']);
  expect(asks).toBe(1);
});

it('calls only plug-ins that are about the resource, or about all', async () => {
  const ran: string[] = [];
  const plugin = (name: string, resources?: AdmissionPlugin['resources']): AdmissionPlugin => ({
    name,
    ...(resources && { resources }),
    admit: () => void ran.push(name),
  });
  const chain = new AdmissionChain([
    plugin('all'),
    plugin('pods', [{ group: '', resource: 'pods' }]),
    plugin('other group', [{ group: 'metrics.k8s.io', resource: 'pods' }]),
    plugin('nodes', [{ group: '', resource: 'nodes' }]),
  ]);
  await chain.admit(attributesOf({ object: podOf() }));
  await chain.admit(attributesOf({ object: podOf() }));
  expect(ran).toEqual(['all', 'pods', 'all', 'pods']);
});

describe('updates that change nothing', () => {
  const update = { ...attributesOf({ of: '/pods' }), operation: 'UPDATE' } as const;
  const pods = [{ group: '', resource: 'pods' }];
  const nodes = [{ group: '', resource: 'nodes' }];
  const admit = () => undefined;
  const validate = admit;
  const idle = () => false;

  it.each<[boolean, string, Partial<AdmissionPlugin>[]]>([
    [
      true,
      'all plug-ins do nothing',
      [
        { admit, actsOnUnchanged: idle },
        { validate, actsOnUnchanged: idle },
      ],
    ],
    [true, 'a plug-in that may act is about another resource', [{ admit, resources: nodes }]],
    [false, 'a mutating plug-in acts', [{ admit, actsOnUnchanged: () => true, resources: pods }]],
    [
      false,
      'a validating plug-in acts',
      [
        { admit, actsOnUnchanged: idle },
        { validate, actsOnUnchanged: () => true },
      ],
    ],
    [false, 'a plug-in does not say', [{ admit, actsOnUnchanged: idle }, { validate }]],
  ])('are ignored: %s, if %s', (want, _what, plugins) => {
    const chain = new AdmissionChain(plugins.map((plugin, index) => ({ name: `${index}`, ...plugin })));
    expect([chain.ignoresUnchanged(update), chain.ignoresUnchanged(update)]).toEqual([want, want]);
  });

  it('count for each plug-in and step, if they are ignored', () => {
    const counted: string[] = [];
    const observer: AdmissionObserver = {
      clock: new ManualClock(),
      plugin: () => undefined,
      unconcernedPlugins: (names, step, operation) => void counted.push(`${names.join()} ${step} ${operation}`),
      step: (step, operation, seconds, isRefused) => void counted.push(`${step} ${operation} ${seconds} ${isRefused}`),
    };
    const plugins = [
      { name: 'A', admit },
      { name: 'B', admit, validate },
    ];
    new AdmissionChain(plugins, observer).countIgnored(update);
    expect(counted).toEqual([
      'A,B admit UPDATE',
      'admit UPDATE 0 false',
      'B validate UPDATE',
      'validate UPDATE 0 false',
    ]);
  });
});

describe('plug-ins that return at once, and those that return a promise', () => {
  const outcomes: string[] = [];
  const observer: AdmissionObserver = {
    clock: new ManualClock(),
    plugin: (name, step, _operation, _seconds, isRefused) => void outcomes.push(`${name} ${step} ${isRefused}`),
    unconcernedPlugins: (names, step) => void outcomes.push(`not called: ${names.join()} ${step}`),
    step: (step, _operation, _seconds, isRefused) => void outcomes.push(`${step} ${isRefused}`),
  };
  const refusal = ApiError.badRequest('no');
  const refusing: Record<string, AdmissionPlugin['validate']> = {
    'at once': () => {
      throw refusal;
    },
    'by a promise': () => Promise.reject(refusal),
    // As an embedding program could return from another realm or promise library.
    'by a thenable': () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(refusal) }) as Promise<void>, // prettier-ignore
  };

  it.each(Object.keys(refusing).flatMap((how) => [true, false].map((isObserved) => ({ how, isObserved }))))(
    'refuse $how, observed: $isObserved',
    async ({ how, isObserved }) => {
      outcomes.length = 0;
      const ran: string[] = [];
      const plugins: AdmissionPlugin[] = [
        { name: 'First', validate: () => void ran.push('First') },
        { name: 'Refusing', validate: refusing[how]! },
        { name: 'Last', validate: () => void ran.push('Last') },
      ];
      const validated = new AdmissionChain(plugins, isObserved ? observer : undefined).validate(
        attributesOf({ object: podOf() }),
      );
      await expect(validated).rejects.toBe(refusal);
      expect(ran).toEqual(['First']);
      expect(outcomes).toEqual(isObserved ? ['First validate false', 'Refusing validate true', 'validate true'] : []);
    },
  );
});
