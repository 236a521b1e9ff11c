import { admitted, pluginParts } from '../../test/harness/admission.js';
import { defaultIngressClass } from './plugins/default-ingress-class.plugin.js';
import { defaultStorageClass } from './plugins/default-storage-class.plugin.js';

const marked = (name: string, annotation: string, creationTimestamp = '2026-01-01T00:00:00Z') => ({
  metadata: { name, creationTimestamp, annotations: { [annotation]: 'true' } },
});
const storageDefault = 'storageclass.kubernetes.io/is-default-class';
const ingressDefault = 'ingressclass.kubernetes.io/is-default-class';
const plain = { metadata: { name: 'plain' } };

describe('a claim', () => {
  it.each([
    { name: 'without a default class', classes: [plain], spec: {}, want: undefined },
    { name: 'with one', classes: [plain, marked('fast', storageDefault)], spec: {}, want: 'fast' },
    {
      name: 'with one that says so in the old way',
      classes: [marked('fast', 'storageclass.beta.kubernetes.io/is-default-class')],
      spec: {},
      want: 'fast',
    },
    {
      name: 'with several: the youngest',
      classes: [marked('old', storageDefault), marked('new', storageDefault, '2026-02-01T00:00:00Z')],
      spec: {},
      want: 'new',
    },
    {
      name: 'with several of one time: by name',
      classes: [marked('b', storageDefault), marked('a', storageDefault)],
      spec: {},
      want: 'a',
    },
    {
      name: 'that names one',
      classes: [marked('fast', storageDefault)],
      spec: { storageClassName: 'slow' },
      want: 'slow',
    },
    { name: 'that wants none', classes: [marked('fast', storageDefault)], spec: { storageClassName: '' }, want: '' },
    {
      name: 'that names one in the old way',
      classes: [marked('fast', storageDefault)],
      spec: {},
      annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' },
      want: undefined,
    },
  ])('$name', async ({ classes, spec, annotations, want }) => {
    const plugin = defaultStorageClass(pluginParts({ known: { 'storage.k8s.io/storageclasses': classes } }));
    const object = { metadata: { name: 'c', ...(annotations && { annotations }) }, spec };
    const outcome = await admitted(plugin, { of: '/persistentvolumeclaims', object });
    expect(outcome.object!['spec']).toEqual(want === undefined ? {} : { storageClassName: want });
  });
});

describe('an Ingress', () => {
  it.each([
    { name: 'without a default class', classes: [plain], object: {}, want: undefined },
    { name: 'with one', classes: [marked('web', ingressDefault)], object: {}, want: 'web' },
    {
      name: 'that names one',
      classes: [marked('web', ingressDefault)],
      object: { spec: { ingressClassName: 'own' } },
      want: 'own',
    },
    {
      name: 'that names one in the old way',
      classes: [marked('web', ingressDefault)],
      object: { metadata: { annotations: { 'kubernetes.io/ingress.class': 'x' } } },
      want: undefined,
    },
  ])('$name', async ({ classes, object, want }) => {
    const plugin = defaultIngressClass(pluginParts({ known: { 'networking.k8s.io/ingressclasses': classes } }));
    const outcome = await admitted(plugin, { of: 'networking.k8s.io/ingresses', object });
    expect((outcome.object!['spec'] as { ingressClassName?: string }).ingressClassName).toBe(want);
  });
});
