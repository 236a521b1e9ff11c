import type { AgentRequest } from './agent-request.js';

type Handler = (request: AgentRequest) => Promise<void> | void;

export interface Route {
  readonly methods: readonly string[];
  /** Steps of the path: `{name}` is a parameter, and `*` at the end the rest, which may be empty. */
  readonly path: string;
  readonly handle: Handler;
}

type Match =
  | { readonly route: Route; readonly parameters: ReadonlyMap<string, string> }
  /** No route; `isKnown`: the path has one with another method. */
  | { readonly route?: undefined; readonly isKnown: boolean };

/** Name of the parameter of `*`. */
export const restOfPath = '*';

/** Finds the route of a decoded path. A slash at the end is ignored. */
export function matchRoute(routes: readonly Route[], method: string, path: string): Match {
  let isKnown = false;
  const steps = path.split('/').slice(1);
  for (const route of routes) {
    const parameters = parametersOf(route.path.split('/').slice(1), steps);
    if (!parameters) continue;
    if (route.methods.includes(method === 'HEAD' ? 'GET' : method)) return { route, parameters };
    isKnown = true;
  }
  return { isKnown };
}

function parametersOf(pattern: readonly string[], steps: readonly string[]): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  for (const [index, expected] of pattern.entries()) {
    if (expected === restOfPath) return parameters.set(restOfPath, steps.slice(index).join('/'));
    const step = steps[index];
    if (step === undefined) return undefined;
    if (!expected.startsWith('{')) {
      if (step !== expected) return undefined;
    } else if (step === '') return undefined;
    else parameters.set(expected.slice(1, -1), step);
  }
  const hasMore = steps.length > pattern.length && !(steps.length === pattern.length + 1 && steps.at(-1) === '');
  return hasMore ? undefined : parameters;
}
