import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { allAuthenticated, groupNames } from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import type { AuthenticationResult, Authenticator } from '../authenticator.js';
import { defineAuthenticator } from '../authenticator-definition.js';
import {
  bootstrapTokenEndMs,
  bootstrapTokenName,
  parseBootstrapToken,
  bootstrapTokenType,
  secretText,
} from '../bootstrap-tokens.js';
import type { TokenObjects } from './token-objects.js';

interface Dependencies {
  readonly objects: Pick<TokenObjects, 'cached'>;
  readonly naming: NamingProfile;
  readonly clock: Clock;
}

const extraGroup = new RegExp(`^${groupNames.bootstrappers}:[a-z0-9:-]{0,255}[a-z0-9]$`);

export const bootstrapToken = defineAuthenticator({
  name: 'bootstrap-token',
  make: ({ config: { authentication, naming }, objects, clock }) =>
    authentication.bootstrapTokens ? bootstrapTokenAuthenticator({ objects, naming, clock }) : undefined,
});

/** Authenticates bootstrap tokens, with which nodes join the cluster. They are stored in Secrets in kube-system. */
export function bootstrapTokenAuthenticator(dependencies: Dependencies): Authenticator {
  return {
    reads: 'bearer token',
    authenticate({ bearerToken }) {
      const token = parseBootstrapToken(bearerToken ?? '');
      return token && review(token.id, token.secret, dependencies);
    },
  };
}

function review(id: string, submitted: string, dependencies: Dependencies): AuthenticationResult {
  const { objects, naming, clock } = dependencies;
  const namespace = naming.systemNamespace('system');
  const name = bootstrapTokenName(id);
  const found = objects.cached('secrets', namespace, name);
  // Without a Secret of this id the token may belong to another authenticator, since others may use the same format.
  if (!found) return undefined;
  const secret: Secret = found.parse();
  const groups = groupsOf(secretText(secret, 'auth-extra-groups'));
  if (!isValid(secret, id, submitted, dependencies) || !groups) return 'rejected';
  let checked = { object: found, isValid: true, endMs: bootstrapTokenEndMs(secret) };
  return {
    user: {
      name: `system:bootstrap:${id}`,
      uid: '',
      groups: [...new Set([groupNames.bootstrappers, ...groups]), allAuthenticated],
      extra: {},
    },
    /** Parses each state of the Secret once, since this runs for every request with a cached result. */
    isStillValid() {
      const object = objects.cached('secrets', namespace, name);
      if (!object) return false;
      if (object !== checked.object) {
        const changed: Secret = object.parse();
        const endMs = bootstrapTokenEndMs(changed);
        checked = { object, isValid: isValid(changed, id, submitted, dependencies), endMs };
      }
      return checked.isValid && checked.endMs > clock.now();
    },
  };
}

function isValid(secret: Secret, id: string, submitted: string, { naming, clock }: Dependencies): boolean {
  return (
    secret.metadata.deletionTimestamp === undefined &&
    secret.type === bootstrapTokenType(naming) &&
    secretText(secret, 'token-id') === id &&
    isSame(secretText(secret, 'token-secret'), submitted) &&
    bootstrapTokenEndMs(secret) > clock.now() &&
    secretText(secret, 'usage-bootstrap-authentication') === 'true'
  );
}

/** Returns the groups in auth-extra-groups; undefined if one is not a valid group of bootstrap tokens. */
function groupsOf(text: string): string[] | undefined {
  const groups = text === '' ? [] : text.split(',');
  return groups.every((group) => extraGroup.test(group)) ? groups.sort() : undefined;
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return one !== '' && timingSafeEqual(digest(one), digest(other));
}
