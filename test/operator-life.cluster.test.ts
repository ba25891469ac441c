/** The life of the operator process on a real API server: at rest, started again, cut off, without rights, told to stop. */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definitionOf, rulesOf } from '../crds/kind.ts';
import { WebServer } from '../crds/webserver/index.ts';
import { bodyOf, eventually, testApi } from './api.ts';
import { AuditLog, textOf, type AuditedRequest, type Mark } from './audit-log.ts';
import { startOperator, type TestOperator } from './operator.ts';
import { kubeconfigThrough, tcpProxy } from './tcp-proxy.ts';
import { WebServers } from './web-servers.ts';

jest.setTimeout(120_000);

const api = testApi();
const audit = new AuditLog(api);
let folder: string;
let webs: WebServers;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-life-'));
  await api.establish(definitionOf(WebServer));
});
beforeEach(async () => {
  webs = new WebServers(api, await api.namespace());
});
afterAll(() => {
  api.close();
  rmSync(folder, { recursive: true });
});

async function readyNamed(names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => webs.make(name)));
  await Promise.all(names.map((name) => webs.ready(name, 1)));
}

/** Time, as the operator counts it: waits until it has looked at each of so many resources that often again. */
async function resyncs(operator: TestOperator, resources: number, times: number): Promise<void> {
  const reconciles = () => operator.metric('controller_runtime_reconcile_total', { result: 'success' });
  const before = await reconciles();
  await eventually(reconciles, (now) => now >= before + resources * times, 30_000);
}

/** Everything but the watches, which stay open or are opened again in their own time. */
const requestsOf = async (operator: TestOperator, since: Mark): Promise<readonly AuditedRequest[]> =>
  (await audit.since(since, `(${operator.instance})`)).filter(({ verb }) => verb !== 'watch');

describe('at rest', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const flags = ['--resync-period=1s'];

  test('two resyncs make no request, and neither does a restart but for its watches', async () => {
    const first = await startOperator({ namespaces: [webs.namespace], flags });
    await readyNamed(names);
    // The status of the last Deployment may still be on its way; after one round all is seen.
    await resyncs(first, names.length, 1);
    const rest = await audit.mark();
    await resyncs(first, names.length, 2);
    expect((await requestsOf(first, rest)).map(textOf)).toEqual([]);
    expect((await first.stop()).code).toBe(0);

    const restart = await audit.mark();
    await using second = await startOperator({ namespaces: [webs.namespace], flags });
    await second.ready();
    await resyncs(second, names.length, 2);
    expect((await requestsOf(second, restart)).map(textOf)).toEqual([]);
    const watches = (await audit.since(restart, `(${second.instance})`)).map(({ objectRef }) => objectRef?.resource);
    expect([...watches].sort()).toEqual(['deployments', 'services', 'webservers']);
    expect(await second.metric('reprise_writes_total')).toBe(0);
  });

  test('every request says which version and which replica asks', async () => {
    const since = await audit.mark();
    await using operator = await startOperator({ namespaces: [webs.namespace] });
    await readyNamed(['one']);
    const userAgents = new Set((await audit.since(since, `(${operator.instance})`)).map(({ userAgent }) => userAgent));
    expect([...userAgents]).toEqual([expect.stringMatching(/^reprise\/\d+\.\d+\.\d+ \(test-[0-9a-f]{8}\)$/)]);
  });
});

describe('an API server that goes away', () => {
  test('is waited for, is told of once, and finds nothing repeated when it is back', async () => {
    await using proxy = await tcpProxy(new URL(api.server));
    const kubeconfig = join(folder, 'through-proxy');
    kubeconfigThrough(proxy, process.env['REPRISE_TEST_KUBECONFIG'] ?? '', kubeconfig);
    await using operator = await startOperator({
      namespaces: [webs.namespace],
      kubeconfig,
      flags: ['--resync-period=1s'],
    });
    await readyNamed(['kept', 'changed']);
    await resyncs(operator, 2, 1);
    const messages = () => operator.log().map(({ msg }) => msg);
    const before = messages().length;

    const outage = await audit.mark();
    await proxy.cut();
    await eventually(
      () => Promise.resolve(messages()),
      (all) => all.includes('the API server does not answer; waiting for it'),
    );
    await webs.patchSpec('changed', { replicas: 2 });
    await resyncs(operator, 2, 2);
    expect((await operator.probe('/healthz')).status).toBe(200);
    await proxy.restore();
    await webs.ready('changed', 2);
    await eventually(
      () => Promise.resolve(messages()),
      (all) => all.includes('the API server answers again'),
    );
    await resyncs(operator, 2, 1);

    const writes = (await requestsOf(operator, outage)).map(textOf);
    expect(writes.filter((request) => !request.includes('/changed'))).toEqual([]);
    expect(writes.filter((request) => request.includes('/deployments/'))).not.toEqual([]);
    const loud = operator
      .log()
      .slice(before)
      .filter(({ level }) => level !== 'info' && level !== 'debug');
    const counts = Object.entries(Object.groupBy(loud, ({ msg }) => msg)).map(([msg, lines]) => [msg, lines?.length]);
    expect(Object.fromEntries(counts)).toEqual({
      'the API server does not answer; waiting for it': 1,
      // One for each watch, at its first failure.
      'watch failed; trying again': 3,
    });
  });
});

describe('an account without rights', () => {
  test('is told which right is missing, and works with the rights of the kind once it has them', async () => {
    const base = `/api/v1/namespaces/${webs.namespace}/serviceaccounts`;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'operator' } };
    bodyOf(await api.request('POST', base, account));
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [], expirationSeconds: 3600 },
    };
    const { status } = bodyOf(
      await api.request<{ status: { token: string } }>('POST', `${base}/operator/token`, request),
    );
    const kubeconfig = join(folder, 'without-rights');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(api.server, status.token)));

    await using operator = await startOperator({ namespaces: [webs.namespace], kubeconfig });
    const why = await eventually(
      () => operator.probe('/readyz/synced-deployments.apps'),
      ({ body }) => body.includes('forbidden'),
    );
    expect(why).toMatchObject({ status: 500 });
    expect(why.body).toContain(
      `cannot watch resource "deployments" in API group "apps" in the namespace "${webs.namespace}"`,
    );
    expect((await operator.probe('/readyz')).status).toBe(500);
    expect((await operator.probe('/healthz')).status).toBe(200);
    const warnings = operator.log().filter(({ level }) => level === 'warn');
    expect(warnings.map(({ resource }) => resource).sort()).toEqual([
      'deployments.apps',
      'services',
      'webservers.webserver.example.com',
    ]);

    await grant('operator');
    await operator.ready();
    await readyNamed(['allowed']);
    expect(operator.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  /** Exactly what the kind says that its operator needs. */
  async function grant(name: string): Promise<void> {
    const { namespace } = webs;
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const metadata = { name };
    bodyOf(
      await api.request('POST', `${rbac}/roles`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata,
        rules: rulesOf(WebServer),
      }),
    );
    bodyOf(
      await api.request('POST', `${rbac}/rolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      }),
    );
  }

  const kubeconfigOf = (server: string, token: string) => ({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
  });
});

describe('SIGTERM', () => {
  test('in the middle of work lets it finish, and the next process does the rest', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `web-${i}`);
    const first = await startOperator({ namespaces: [webs.namespace], flags: ['--max-concurrent-reconciles=2'] });
    await first.ready();
    await Promise.all(names.map((name) => webs.make(name)));
    await eventually(
      () => first.metric('reprise_writes_total', { verb: 'create' }),
      (created) => created > 0,
    );
    const { code } = await first.stop();
    expect(code).toBe(0);
    const [stopped] = first.log().slice(-1);
    expect(stopped).toMatchObject({ msg: 'stopped', inTime: true });
    expect(first.log().filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);

    await using second = await startOperator({ namespaces: [webs.namespace] });
    await second.ready();
    await Promise.all(names.map((name) => webs.ready(name, 1)));
  });

  test('waits for a request that gets no answer until the time is over, and a second signal ends it at once', async () => {
    for (const [flags, expected] of [
      [['--graceful-shutdown-timeout=1s'], { code: 1, last: { msg: 'stopped', inTime: false } }],
      [['--graceful-shutdown-timeout=1h'], { code: 130, last: { msg: 'stopping', signal: 'SIGTERM' } }],
    ] as const) {
      await using proxy = await tcpProxy(new URL(api.server));
      const kubeconfig = join(folder, 'deaf');
      kubeconfigThrough(proxy, process.env['REPRISE_TEST_KUBECONFIG'] ?? '', kubeconfig);
      await using operator = await startOperator({ namespaces: [webs.namespace], kubeconfig, flags });
      await operator.ready();
      proxy.deafen();
      await webs.make(`hanging-${expected.code}`);
      await eventually(
        () => operator.metric('controller_runtime_active_workers'),
        (workers) => workers > 0,
      );
      operator.signal('SIGTERM');
      await eventually(
        () => Promise.resolve(operator.log().at(-1)?.msg),
        (msg) => msg === 'stopping' || msg === 'stopped',
      );
      expect((await operator.probe('/readyz/shutdown')).status).toBe(500);
      if (expected.code === 130) await insist(operator);
      expect((await operator.exited).code).toBe(expected.code);
      expect(operator.log().at(-1)).toMatchObject(expected.last);
    }
  });

  /** Ctrl-C until it is over: one that comes with the first signal does not count. */
  async function insist(operator: TestOperator): Promise<void> {
    let isOver = false;
    void operator.exited.then(() => (isOver = true));
    await eventually(
      () => {
        if (!isOver) operator.signal('SIGINT');
        return Promise.resolve(isOver);
      },
      (over) => over,
    );
  }
});
