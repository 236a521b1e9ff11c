import { fieldsOfPath, valueAt } from './fields.js';

const object = { spec: { replicas: 2, nodeName: 'n', list: [1], none: null } };

it.each<[string, unknown]>([
  ['.spec.replicas', 2],
  ['spec.list', [1]],
  ['.spec.none', null],
  ['.spec.none.deeper', undefined],
  ['.spec.nodeName.length', undefined],
  ['.spec.list.0', undefined],
  ['.spec.constructor', undefined],
  ['.', object],
])('the value at %s is %j', (path, want) => expect(valueAt(object, fieldsOfPath(path))).toEqual(want));
