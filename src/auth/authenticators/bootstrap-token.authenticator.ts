import { createHash, timingSafeEqual } from 'node:crypto';
import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { allAuthenticated, groupNames } from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import type { AuthenticationResult, Authenticator } from '../authenticator.js';
import type { TokenObjects } from './token-objects.js';

interface Parts {
  readonly objects: Pick<TokenObjects, 'cached'>;
  readonly naming: NamingProfile;
  readonly clock: Clock;
}

const format = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const extraGroup = new RegExp(`^${groupNames.bootstrappers}:[a-z0-9:-]{0,255}[a-z0-9]$`);

/** Tokens by which a machine joins the cluster: each stands in a Secret of the system's namespace. */
export function bootstrapTokenAuthenticator(parts: Parts): Authenticator {
  return {
    name: 'bootstrap-token',
    authenticate({ bearerToken }) {
      const [, id, secret] = format.exec(bearerToken ?? '') ?? [];
      return id === undefined || secret === undefined ? undefined : review(id, secret, parts);
    },
  };
}

function review(id: string, given: string, parts: Parts): AuthenticationResult {
  const { objects, naming, clock } = parts;
  const find = () => objects.cached('secrets', naming.systemNamespace('system'), `bootstrap-token-${id}`);
  const secret = find();
  // Tokens of this form may also be others': who does not know the id leaves it to them.
  if (!secret) return undefined;
  const data = dataOf(secret);
  const groups = groupsOf(data('auth-extra-groups'));
  if (!isGood(secret, id, given, parts) || !groups) return 'rejected';
  return {
    user: {
      name: `system:bootstrap:${id}`,
      uid: '',
      groups: [...new Set([groupNames.bootstrappers, ...groups]), allAuthenticated],
      extra: {},
    },
    isStillTrue() {
      const now = find();
      return now !== undefined && isGood(now, id, given, { objects, naming, clock });
    },
  };
}

function isGood(secret: KubeObject, id: string, given: string, { naming, clock }: Parts): boolean {
  const data = dataOf(secret);
  return (
    secret.metadata.deletionTimestamp === undefined &&
    secret['type'] === naming.label('token', 'bootstrap') &&
    data('token-id') === id &&
    isSame(data('token-secret'), given) &&
    !isExpired(data('expiration'), clock) &&
    data('usage-bootstrap-authentication') === 'true'
  );
}

function dataOf(secret: KubeObject): (key: string) => string {
  const data = asFields(secret['data']);
  return (key) => Buffer.from(asText(data[key]), 'base64').toString('utf8');
}

/** A time that cannot be read has passed: nobody is let in by a mistake. */
function isExpired(expiration: string, clock: Clock): boolean {
  return expiration !== '' && !(Date.parse(expiration) > clock.now());
}

/** Undefined when one of them is no group that a token may give. */
function groupsOf(text: string): string[] | undefined {
  const groups = text === '' ? [] : text.split(',');
  return groups.every((group) => extraGroup.test(group)) ? groups.sort() : undefined;
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return one !== '' && timingSafeEqual(digest(one), digest(other));
}
