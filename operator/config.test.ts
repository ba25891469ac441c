import { describe, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import { helpText, readConfig, type Config, type Surroundings } from './config.ts';

const kinds = ['Memcached', 'WebServer'];
const read = (given: Partial<Surroundings>) => readConfig({ argv: [], env: {}, hasToken: false, ...given }, kinds);

function configOf(given: Partial<Surroundings>): Config {
  const command = read(given);
  if (command.do !== 'run') throw new Error(`expected a configuration, got ${JSON.stringify(command)}`);
  return command.config;
}
const problemsOf = (given: Partial<Surroundings>): readonly string[] => {
  const command = read(given);
  return command.do === 'refuse' ? command.problems : [];
};
const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '6443' };

describe('the configuration', () => {
  test('has a default for everything', () => {
    expect(configOf({})).toEqual({
      connection: { from: 'kubeconfig', paths: undefined, context: undefined },
      namespaces: [],
      kinds: [],
      metricsBindAddress: { port: 8080 },
      healthProbeBindAddress: { port: 8081 },
      maxConcurrentReconciles: 10,
      resyncPeriodMs: 30_000,
      gracefulShutdownTimeoutMs: 20_000,
      logLevel: 'info',
      logFormat: 'json',
      instance: hostname(),
    });
  });

  test('takes the arguments and the environment that the install chart gives', () => {
    const argv = [
      '--health-probe-bind-address=:8081',
      '--metrics-bind-address=0',
      '--log-format=json',
      '--log-level=debug',
    ];
    const config = configOf({ argv, env: { WATCH_NAMESPACE: 'shop,blog', POD_NAME: 'reprise-7d-x' } });
    expect(config).toMatchObject({ logLevel: 'debug', namespaces: ['blog', 'shop'], instance: 'reprise-7d-x' });
    expect(config.metricsBindAddress).toBeUndefined();
  });

  test('cannot be changed', () => {
    const config = configOf({ env: { WATCH_NAMESPACE: 'shop' } });
    expect(() => Object.assign(config, { logLevel: 'debug' })).toThrow(TypeError);
    expect(() => (config.namespaces as string[]).push('x')).toThrow(TypeError);
    expect(() => Object.assign(config.connection, { context: 'x' })).toThrow(TypeError);
  });

  test('uses the mounted account in a pod', () => {
    expect(configOf({ env: pod, hasToken: true }).connection).toEqual({
      from: 'in-cluster',
      host: '10.96.0.1',
      port: '6443',
    });
  });

  test('uses a kubeconfig in a pod when one is named, or when no account is mounted', () => {
    const kubeconfig = { from: 'kubeconfig', paths: undefined, context: undefined };
    expect(configOf({ env: pod, hasToken: false }).connection).toEqual(kubeconfig);
    expect(configOf({ env: pod, hasToken: true, argv: ['--context=kind'] }).connection).toEqual({
      ...kubeconfig,
      context: 'kind',
    });
    expect(configOf({ env: pod, hasToken: true, argv: ['--kubeconfig=/k'] }).connection).toEqual({
      ...kubeconfig,
      paths: '/k',
    });
    expect(configOf({ env: { ...pod, KUBECONFIG: '/a:/b' }, hasToken: true }).connection).toEqual({
      ...kubeconfig,
      paths: '/a:/b',
    });
  });

  test('reports all problems at once', () => {
    const argv = [
      '--log-level=loud',
      '--resync-period=5',
      '--namespaces=Shop',
      '--kinds=WebServer,Website',
      '--metrics-bind-address=8080',
    ];
    const env = { CDK8S_DISABLE_SORT: '1', REPRISE_MAX_CONCURRENT_RECONCILES: '0' };
    expect(problemsOf({ argv, env })).toEqual([
      '--namespaces: expected names of namespaces separated by commas, or *, got "Shop"',
      '--kinds: expected some of Memcached, WebServer, separated by commas, got "WebServer,Website"',
      '--metrics-bind-address: expected an address such as :8080 or 127.0.0.1:8080, or 0 for none, got "8080"',
      'REPRISE_MAX_CONCURRENT_RECONCILES (environment): expected a whole number from 1 to 1000, got "0"',
      '--resync-period: expected a duration such as 30s or 5m, from 1s to 24h, got "5"',
      '--log-level: expected one of debug, info, warn, error, got "loud"',
      'CDK8S_DISABLE_SORT (environment): expected it to be unset, got "1"',
    ]);
  });

  test('asks for help or version before anything is wrong', () => {
    expect(read({ argv: ['--nonsense', '--help'] })).toEqual({ do: 'print-help' });
    expect(read({ argv: ['--version'] })).toEqual({ do: 'print-version' });
  });

  test('has a help that names every flag, its environment variable and its default', () => {
    const help = helpText(kinds);
    expect(help).toContain('--resync-period DURATION');
    expect(help).toContain('[REPRISE_RESYNC_PERIOD, default 30s]');
    expect(help).toContain('[WATCH_NAMESPACE]');
    expect(help).toContain('--version');
    expect(help.split('\n').filter((line) => /^ {2}--/.test(line))).toHaveLength(13);
  });
});
