import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';
import { fieldSetOf, type FieldSet } from './field-set.js';
import { scaledManagedFields, scaleManagedFields } from './scale-owners.js';

const time = '2026-01-02T03:04:05Z';
const replicas = new Map<string, FieldSet | undefined>([
  ['apps/v1', fieldSetOf('spec/replicas')],
  ['apps/v2', undefined],
]);
const entry = (manager: string, operation: string, apiVersion: string, fields: FieldSet, rest: JsonObject = {}) => ({
  manager,
  operation,
  apiVersion,
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: fields as JsonValue,
  ...rest,
});
const inScale = fieldSetOf('spec/replicas');
const both = fieldSetOf('spec/replicas', 'spec/paused');
const scaled = (...managedFields: JsonValue[]) => ({ managedFields, apiVersion: 'apps/v1', replicas });

describe('owners of spec.replicas', () => {
  it('the Scale has the owners of the replicas', () => {
    const object = scaled(
      entry('m1', 'Apply', 'apps/v1', both),
      entry('m2', 'Apply', 'apps/v1', fieldSetOf('spec/paused')),
      entry('m3', 'Apply', 'apps/v0', both),
      entry('u', 'Update', 'apps/v1', both),
    );
    expect(scaleManagedFields(object)).toEqual([
      entry('m1', 'Apply', 'autoscaling/v1', inScale),
      entry('u', 'Update', 'autoscaling/v1', inScale),
    ]);
  });

  const { time: _time, ...timeless } = entry('hpa', 'Update', 'apps/v1', inScale, { subresource: 'scale' });
  it.each<{ name: string; before: JsonValue[]; scale: JsonValue[]; want: JsonValue[] | undefined }>([
    {
      name: 'scaling takes the replicas from their owner',
      before: [entry('m1', 'Apply', 'apps/v1', both), entry('m2', 'Apply', 'apps/v1', inScale)],
      scale: [entry('hpa', 'Update', 'autoscaling/v1', inScale, { subresource: 'scale' })],
      want: [entry('m1', 'Apply', 'apps/v1', fieldSetOf('spec/paused')), timeless],
    },
    {
      name: 'applying the same replicas through the Scale shares them',
      before: [entry('m1', 'Apply', 'apps/v1', both)],
      scale: [entry('m1', 'Apply', 'autoscaling/v1', inScale)],
      want: [entry('m1', 'Apply', 'apps/v1', both)],
    },
    {
      name: 'an updater of replicas and other fields stays one owner',
      before: [entry('u', 'Update', 'apps/v1', both)],
      scale: [entry('u', 'Update', 'autoscaling/v1', inScale)],
      want: [entry('u', 'Update', 'apps/v1', fieldSetOf('spec/paused', 'spec/replicas'))],
    },
    {
      name: 'owners of versions without scale are kept, those of removed versions dropped',
      before: [entry('m1', 'Apply', 'apps/v2', both), entry('m2', 'Apply', 'apps/v0', both)],
      scale: [],
      want: [entry('m1', 'Apply', 'apps/v2', both)],
    },
    { name: 'the replicas may have no owner', before: [], scale: [], want: undefined },
  ])('$name', ({ before, scale, want }) => expect(scaledManagedFields(scaled(...before), scale)).toEqual(want));
});
