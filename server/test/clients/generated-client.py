"""Calls every operation by the client that was generated from the document, and compares what it decodes with what came over the wire."""
import datetime, hashlib, json, os, re, time, types, urllib.parse

from dateutil.parser import isoparse
from masthead import ApiClient, Configuration, models
from masthead.api import accounts_api, changes_api, contacts_api, exports_api, invoices_api, publications_api
from masthead.api import subscriptions_api, tasks_api
from masthead.exceptions import ApiException

# The document names the address.
configuration = Configuration()
configuration.access_token = os.environ["TOKEN"]
client = ApiClient(configuration)
accounts, contacts = accounts_api.AccountsApi(client), contacts_api.ContactsApi(client)
publications, tasks = publications_api.PublicationsApi(client), tasks_api.TasksApi(client)
subscriptions, invoices = subscriptions_api.SubscriptionsApi(client), invoices_api.InvoicesApi(client)
changes, exports = changes_api.ChangesApi(client), exports_api.ExportsApi(client)
figures = {"operations": set(), "decoded": 0, "values": 0, "walked": {}}


def compare(decoded, raw, place):
    if isinstance(raw, dict) and not isinstance(decoded, dict):
        names = {name: attribute for attribute, name in decoded.attribute_map.items()}
        for name, value in raw.items():
            compare(getattr(decoded, names[name]), value, f"{place}.{name}")
    elif isinstance(raw, (dict, list)):
        assert len(decoded) == len(raw), place
        for key in raw if isinstance(raw, dict) else range(len(raw)):
            compare(decoded[key], raw[key], f"{place}.{key}")
    else:
        figures["values"] += 1
        if isinstance(decoded, datetime.datetime):
            assert decoded.tzinfo is not None, place
            raw = isoparse(raw)
        elif isinstance(decoded, datetime.date):
            decoded = decoded.isoformat()
        assert (decoded, isinstance(decoded, bool)) == (raw, isinstance(raw, bool)), f"{place}: {decoded!r} for {raw!r}"


def call(endpoint, *values, **parameters):
    """The decoded body and the headers of a response."""
    name = endpoint.settings["operation_id"]
    decoded, _status, headers = endpoint(*values, _return_http_data_only=False, **parameters)
    figures["operations"].add(name)
    figures["decoded"] += 1
    if endpoint.settings["response_type"][0].__name__ in vars(models):
        compare(decoded, json.loads(client.last_response.data), name)
    return decoded, {key.lower(): value for key, value in headers.items()}


def decode(text, model):
    decoded = client.deserialize(types.SimpleNamespace(data=text), (model,), True)
    compare(decoded, json.loads(text), model.__name__)
    return decoded


def refused(status, endpoint, *values, **parameters):
    try:
        endpoint(*values, **parameters)
    except ApiException as error:
        assert error.status == status, error
        figures["decoded"] += 1
        return decode(error.body, models.Problem) if error.body else None
    raise AssertionError(f"not refused with {status}")


def walk(name, endpoint, **parameters):
    """Every record of a list, which comes once."""
    records, cursor, pages = {}, {}, 0
    while cursor is not None:
        page, headers = call(endpoint, page_size=200, **cursor, **parameters)
        pages += 1
        for record in page.items:
            assert record.id not in records, record.id
            records[record.id] = record
        following = re.search(r'<([^>]*)>; rel="next"', headers["link"])
        cursor = following and {"cursor": urllib.parse.parse_qs(urllib.parse.urlsplit(following[1]).query)["cursor"][0]}
    assert len(records) == page.total, (name, len(records), page.total)
    figures["walked"][name] = [len(records), pages]
    return list(records.values())


lists = {
    "accounts": walk("accounts", accounts.get_accounts),
    "contacts": walk("contacts", contacts.get_contacts),
    "publications": walk("publications", publications.get_publications),
    "subscriptions": walk("subscriptions", subscriptions.get_subscriptions),
    "invoices": walk("invoices", invoices.get_invoices),
    "tasks": walk("tasks", tasks.get_tasks),
}
gets = {
    "accounts": accounts.get_account_by_id,
    "contacts": contacts.get_contact_by_id,
    "publications": publications.get_publication_by_id,
    "subscriptions": subscriptions.get_subscription_by_id,
    "invoices": invoices.get_invoice_by_id,
    "tasks": tasks.get_task_by_id,
}
for name, records in lists.items():
    record, headers = call(gets[name], records[0].id)
    assert record == records[0], name
    refused(304, gets[name], records[0].id, if_none_match=headers["etag"])

# Parameters of every type.
since = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
found, _ = call(
    invoices.get_invoices,
    sort="-dueDate", due_date_from=datetime.date(2000, 1, 1), changed_from=since, page=1, page_size=3, is_open="true",
)
assert len(found.items) == 3 and all(one.is_open == 1 for one in found.items)
assert found.items == sorted(found.items, key=lambda one: one.due_date, reverse=True)

# Writes.
account, headers = call(accounts.create_account_record, models.AccountInput(company="Gänßler & Söhne", city=None))
made = headers["location"].rsplit("/", 1)[1]
_, headers = call(accounts.get_account_by_id, made)
account, _ = call(
    accounts.update_account_record, made, models.AccountChanges(city="Köln", suite=None), if_match=headers["etag"]
)
assert (account.city, account.suite, account.company) == ("Köln", None, "Gänßler & Söhne")
stale = refused(412, accounts.update_account_record, made, models.AccountChanges(), if_match=headers["etag"])
assert stale.code == "precondition_failed"

given = models.ContactInput(account.account_id, first_name="Ada", last_name="Lovelace", do_not_email=True)
key = {"idempotency_key": f"python-{made}"}
contact, _ = call(contacts.create_contact_record, given, **key)
repeated, headers = call(contacts.create_contact_record, given, **key)
assert repeated == contact and headers["idempotency-replayed"] == "true"
assert (contact.name, contact.do_not_email, contact.phone) == ("Ada Lovelace", True, None)
given.last_name, given.do_not_email = "King", None
contact, _ = call(contacts.update_contact_record, contact.id, given)
assert (contact.name, contact.do_not_email) == ("Ada King", None)
contact, _ = call(contacts.delete_contact_record, contact.id)
assert contact.deleted_at is not None
contact, _ = call(contacts.restore_contact_record, contact.id)
assert contact.deleted_at is None

task, _ = call(tasks.create_task_record, models.TaskInput(account.account_id, "Call back", datetime.date(2030, 2, 28)))
done = datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.timezone.utc)
task, _ = call(tasks.update_task_record, task.id, models.TaskChanges(done_at=done, notes="They were out."))
assert (task.done_at, task.due_date) == (done, datetime.date(2030, 2, 28))

# Refusals.
assert refused(404, contacts.get_contact_by_id, "00000000-0000-7000-8000-000000000000").code == "not_found"
wrong = refused(422, contacts.create_contact_record, models.ContactInput("nowhere"))
assert (wrong.status, wrong.errors[0].pointer) == (422, "/accountId")
assert refused(400, contacts.get_contacts, cursor="nonsense").code == "invalid_cursor"

# Changes, whose records are of the list that they name.
records = {
    "accounts": models.Account,
    "contacts": models.Contact,
    "publications": models.Publication,
    "subscriptions": models.Subscription,
    "invoices": models.Invoice,
    "tasks": models.TaskRecord,
}
kinds, after = set(), {}
while True:
    page, _ = call(changes.list_changes, limit=200, **after)
    for change, raw in zip(page.items, json.loads(client.last_response.data)["items"]):
        kinds.add((change.resource, change.change))
        assert (change.record is None) == (change.change == "removed"), change
        if change.record is not None:
            decode(json.dumps(raw["record"]), records[change.resource])
    after = {"after": page.cursor}
    if not page.has_more:
        break
assert kinds == {("contacts", "removed"), *((name, "written") for name in records)}, kinds

# Exports and their files.
filters = models.ExportFilters(invoices=models.InvoiceFilters(changed_from=since), accounts=models.AccountFilters(status="active"))
export, _ = call(exports.create_export, models.ExportInput(["accounts", "invoices"], filters=filters, format="csv"))
while export.state in ("waiting", "running"):
    time.sleep(0.2)
    export, _ = call(exports.get_export, export.id)
assert export.state == "done", export.problem
for file in export.files:
    content, _ = call(exports.download_export, export.id, file.name)
    with content:
        assert hashlib.sha256(content.read()).hexdigest() == file.sha256, file.name
    os.remove(content.name)
assert export in call(exports.get_exports)[0].items
assert call(exports.delete_export, export.id)[0].state == "deleted"

print(json.dumps({**figures, "operations": sorted(figures["operations"])}))
