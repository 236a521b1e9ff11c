import { admitted, hooksOf } from '../../test/harness/admission.js';
import { defaultIngressClass } from './plugins/default-ingress-class.plugin.js';
import { defaultStorageClass } from './plugins/default-storage-class.plugin.js';

const marked = (name: string, annotation: string, creationTimestamp = '2026-01-01T00:00:00Z') => ({
  metadata: { name, creationTimestamp, annotations: { [annotation]: 'true' } },
});
const storageDefault = 'storageclass.kubernetes.io/is-default-class';
const ingressDefault = 'ingressclass.kubernetes.io/is-default-class';
const plain = { metadata: { name: 'plain' } };

describe('DefaultStorageClass: a claim', () => {
  it.each([
    { name: 'gets no class if none is the default', classes: [plain], spec: {}, want: undefined },
    { name: 'gets the default class', classes: [plain, marked('fast', storageDefault)], spec: {}, want: 'fast' },
    {
      name: 'gets a default class with the beta annotation',
      classes: [marked('fast', 'storageclass.beta.kubernetes.io/is-default-class')],
      spec: {},
      want: 'fast',
    },
    {
      name: 'gets the newest of several default classes',
      classes: [marked('old', storageDefault), marked('new', storageDefault, '2026-02-01T00:00:00Z')],
      spec: {},
      want: 'new',
    },
    {
      name: 'gets the first by name of default classes of the same age',
      classes: [marked('b', storageDefault), marked('a', storageDefault)],
      spec: {},
      want: 'a',
    },
    {
      name: 'keeps its storageClassName',
      classes: [marked('fast', storageDefault)],
      spec: { storageClassName: 'slow' },
      want: 'slow',
    },
    {
      name: 'keeps an empty storageClassName',
      classes: [marked('fast', storageDefault)],
      spec: { storageClassName: '' },
      want: '',
    },
    {
      name: 'with the class in the beta annotation is not changed',
      classes: [marked('fast', storageDefault)],
      spec: {},
      annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' },
      want: undefined,
    },
  ])('$name', async ({ classes, spec, annotations, want }) => {
    const plugin = hooksOf(defaultStorageClass, { known: { 'storage.k8s.io/storageclasses': classes } });
    const object = { metadata: { name: 'c', ...(annotations && { annotations }) }, spec };
    const outcome = await admitted(plugin, { of: '/persistentvolumeclaims', object });
    expect(outcome.object!['spec']).toEqual(want === undefined ? {} : { storageClassName: want });
  });
});

describe('DefaultIngressClass: an Ingress', () => {
  it.each([
    { name: 'gets no class if none is the default', classes: [plain], object: {}, want: undefined },
    { name: 'gets the default class', classes: [marked('web', ingressDefault)], object: {}, want: 'web' },
    {
      name: 'keeps its ingressClassName',
      classes: [marked('web', ingressDefault)],
      object: { spec: { ingressClassName: 'own' } },
      want: 'own',
    },
    {
      name: 'with the class in the old annotation is not changed',
      classes: [marked('web', ingressDefault)],
      object: { metadata: { annotations: { 'kubernetes.io/ingress.class': 'x' } } },
      want: undefined,
    },
  ])('$name', async ({ classes, object, want }) => {
    const plugin = hooksOf(defaultIngressClass, { known: { 'networking.k8s.io/ingressclasses': classes } });
    const outcome = await admitted(plugin, { of: 'networking.k8s.io/ingresses', object });
    expect((outcome.object!['spec'] as { ingressClassName?: string }).ingressClassName).toBe(want);
  });
});
