import { AsyncResource } from 'node:async_hooks';

/* eslint-disable @typescript-eslint/unbound-method -- methods of a prototype are compared and replaced */
const ofNode = AsyncResource.prototype.bind;

/**
 * Replaces `AsyncResource.prototype.bind` by that of Node 25, whose functions have no deprecated property `asyncResource`.
 *
 * Node calls it for each HTTP/2 request. To warn of the property, Node 20 makes two functions the prototypes of others,
 * whose maps V8 keeps in the old generation; they refer to the stream, so that no scavenge can free it.
 */
export function bindWithoutDeprecatedProperty(): void {
  if (AsyncResource.prototype.bind !== ofNode || !hasDeprecatedProperty()) return;
  AsyncResource.prototype.bind = bind;
}

function hasDeprecatedProperty(): boolean {
  return Object.hasOwn(
    AsyncResource.bind(() => undefined),
    'asyncResource',
  );
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

function bind<Bound extends AnyFunction>(this: AsyncResource, fn: Bound, thisArg?: ThisParameterType<Bound>): Bound {
  // Node throws its own error.
  if (typeof fn !== 'function') return ofNode.call(this, fn) as Bound;
  // eslint-disable-next-line @typescript-eslint/no-this-alias -- the bound function has a `this` of its own
  const resource = this;
  const bound: AnyFunction =
    thisArg === undefined
      ? function (...args) {
          return resource.runInAsyncScope(fn, this, ...args);
        }
      : (...args) => resource.runInAsyncScope(fn, thisArg, ...args);
  if (fn.length > 0) Object.defineProperty(bound, 'length', { value: fn.length, configurable: true });
  return bound as Bound;
}
