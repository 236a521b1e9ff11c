import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { bindWithoutDeprecatedProperty } from './bound-functions.js';

beforeAll(() => bindWithoutDeprecatedProperty());

const storage = new AsyncLocalStorage<string>();
function described(this: unknown, ...args: unknown[]): unknown[] {
  return [storage.getStore(), this, ...args];
}
const inContext = (name: string) => storage.run(name, () => new AsyncResource('test'));

it('a bound function runs in the context of its resource, with its own this and arguments', () => {
  const bound = inContext('a').bind(described);
  expect(storage.run('b', () => bound.call('me', 1, 2))).toEqual(['a', 'me', 1, 2]);
  expect(storage.run('b', () => bound.call(undefined))).toEqual(['a', undefined]);
});

it('a bound function keeps the this that was given to bind', () => {
  const resource = inContext('a') as { bind(fn: typeof described, thisArg: unknown): typeof described };
  const bound = resource.bind(described, 'given');
  expect(storage.run('b', () => bound.call('me', 1))).toEqual(['a', 'given', 1]);
});

it('AsyncResource.bind binds to the context in which it is called', () => {
  const bound = storage.run('a', () => AsyncResource.bind(described));
  expect(storage.run('b', () => bound.call('me'))).toEqual(['a', 'me']);
});

it('a bound function has the length of the function, and no property asyncResource', () => {
  const three = (_a: number, _b: number, _c: number) => undefined;
  const bound = [three, () => undefined].map((fn) => inContext('a').bind(fn));
  expect(bound.map(({ length }) => length)).toEqual([3, 0]);
  expect(bound.map((fn) => 'asyncResource' in fn)).toEqual([false, false]);
});

it('errors of the function are thrown, and what is no function is refused as by Node', () => {
  const broken = inContext('a').bind(() => {
    throw new Error('broken');
  });
  expect(broken).toThrow('broken');
  expect(() => inContext('a').bind('text' as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }));
});

it('the function is replaced once', () => {
  const { bind } = AsyncResource.prototype as { bind: unknown };
  bindWithoutDeprecatedProperty();
  expect((AsyncResource.prototype as { bind: unknown }).bind).toBe(bind);
});
