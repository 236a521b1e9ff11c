import { gunzipSync } from 'node:zlib';
import { eventually } from '../../test/harness/eventually.js';
import { shell } from '../../test/harness/shell.js';
import { ManualClock, type Clock } from '../std/clock.js';
import { ProfileRequests } from './profile-requests.js';
import { Profiles } from './profiles.js';

function serverWith(isServed: boolean, clock: Clock = new ManualClock()) {
  const requests = new ProfileRequests(new Profiles(clock), isServed);
  const server = shell((request, reply) => requests.answer(request, reply));
  return (url: string) => server.inject({ method: 'GET', url });
}

/** Uses CPU time in a function whose name the profile must contain. */
function spinForTheProfile(cpuMs: number): number {
  let sum = 0;
  const begin = process.cpuUsage();
  const usedMs = () => process.cpuUsage(begin).user / 1_000;
  while (usedMs() < cpuMs) for (let n = 0; n < 10_000; n++) sum += Math.sqrt(sum + 1);
  return sum;
}

describe('/debug/pprof/', () => {
  const clock = new ManualClock();
  const get = serverWith(true, clock);
  const begun = (what: string) => eventually(`${what} has begun`, () => clock.pendingTimers === 1);

  it.each([
    ['/debug/pprof/', 200, 'text/html; charset=utf-8', 'href="profile"'],
    ['/debug/pprof/cmdline', 200, 'text/plain; charset=utf-8', process.argv[0]!],
    ['/debug/pprof/nothing', 404, 'text/plain; charset=utf-8', '404 page not found'],
    ['/debug/pprof/profile?seconds=0', 400, 'application/json', 'seconds must be a whole number'],
    ['/debug/pprof/heap?seconds=x', 400, 'application/json', 'seconds must be a whole number'],
  ])('GET %s answers %s', async (url, code, type, holds) => {
    const { statusCode, headers, body } = await get(url);
    expect([statusCode, headers['content-type']]).toEqual([code, type]);
    expect(body).toContain(holds);
  });

  it('profile contains the busy function; a second concurrent profile is refused', async () => {
    const profile = get('/debug/pprof/profile?seconds=2');
    await begun('the CPU profile');
    spinForTheProfile(200);
    expect((await get('/debug/pprof/heap?seconds=1')).statusCode).toBe(429);
    clock.advance(2_000);
    const { statusCode, rawPayload } = await profile;
    expect(statusCode).toBe(200);
    expect(gunzipSync(rawPayload).includes('spinForTheProfile')).toBe(true);
  });

  it('heap contains the allocating function', async () => {
    const profile = get('/debug/pprof/heap?seconds=1');
    await begun('the heap profile');
    const kept = Array.from({ length: 200_000 }, (_, n) => ({ n, text: `t${n}` }));
    clock.advance(1_000);
    const { rawPayload } = await profile;
    expect(kept).toHaveLength(200_000);
    expect(gunzipSync(rawPayload).includes('inuse_space')).toBe(true);
  });

  it('is 404 with --profiling=false', async () => {
    expect((await serverWith(false)('/debug/pprof/')).statusCode).toBe(404);
  });
});
