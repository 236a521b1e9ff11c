import passport from 'passport';
import { Strategy } from 'passport-http-bearer';
import { isAuthenticated, type AuthenticationResult, type Credentials } from './authenticator.js';

type Verify = (token: string, credentials: Credentials) => Promise<AuthenticationResult>;

/**
 * Bearer tokens by passport. It costs more than all the rest of authentication together, so it is asked only about
 * headers that are not remembered. The strategy sees the one header and nothing else: it would also take tokens from
 * a query or a form, where they end up in logs.
 */
export class BearerStrategy {
  private readonly passport = new passport.Passport();

  constructor(verify: Verify) {
    this.passport.use(
      new Strategy(
        { passReqToCallback: true },
        (request: unknown, token: string, done: (error: unknown, user?: unknown) => void) => {
          const { credentials } = request as { credentials: Credentials };
          verify(token, credentials).then(
            (result) => done(null, isAuthenticated(result) ? result : false),
            (error: unknown) => done(error),
          );
        },
      ),
    );
  }

  authenticate(header: string, credentials: Credentials): Promise<AuthenticationResult> {
    return new Promise((resolve, reject) => {
      const handler = this.passport.authenticate(
        'bearer',
        { session: false },
        (error: unknown, result: AuthenticationResult | false | undefined) => {
          if (error) reject(error);
          else resolve(result || 'rejected');
        },
      ) as (request: unknown, response: unknown, next: (error?: unknown) => void) => void;
      handler({ headers: { authorization: header }, credentials }, {}, (error) => {
        if (error) reject(error);
        else resolve('rejected');
      });
    });
  }
}
