// Calls every operation by the client that was generated from the document, and compares what it decodes with what came over the wire.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"masthead"
)

type figures struct {
	Operations []string          `json:"operations"`
	Decoded    int               `json:"decoded"`
	Values     int               `json:"values"`
	Walked     map[string][2]int `json:"walked"`
}

var (
	counted = figures{Walked: map[string][2]int{}}
	called  = map[string]bool{}
	// The body of the last response, as it came.
	body []byte
)

type recorder struct{}

func (recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err = io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func assert(holds bool, what ...interface{}) {
	if !holds {
		panic(fmt.Sprint(what...))
	}
}

// Numbers stay as they were written.
func parsed(text []byte) (value interface{}) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	must(decoder.Decode(&value))
	return value
}

func compare(decoded, raw interface{}, place string) {
	switch expected := raw.(type) {
	case map[string]interface{}:
		members, _ := decoded.(map[string]interface{})
		for name := range members {
			_, isThere := expected[name]
			assert(isThere, place, ".", name)
		}
		// Go may leave out a null when it encodes.
		for name, value := range expected {
			compare(members[name], value, place+"."+name)
		}
	case []interface{}:
		items, _ := decoded.([]interface{})
		assert(len(items) == len(expected), place)
		for index, value := range expected {
			compare(items[index], value, fmt.Sprint(place, ".", index))
		}
	default:
		counted.Values++
		assert(decoded == raw || sameInstant(decoded, raw), place, ": ", decoded, " for ", raw)
	}
}

// Go writes instants without trailing zeros.
func sameInstant(decoded, raw interface{}) bool {
	one, err := time.Parse(time.RFC3339Nano, fmt.Sprint(decoded))
	other, otherErr := time.Parse(time.RFC3339Nano, fmt.Sprint(raw))
	return err == nil && otherErr == nil && one.Equal(other)
}

func compareModel(model interface{}, raw []byte, place string) {
	encoded, err := json.Marshal(model)
	must(err)
	compare(parsed(encoded), parsed(raw), place)
}

func decode[Model any](raw []byte) (model Model) {
	must(json.Unmarshal(raw, &model))
	compareModel(model, raw, fmt.Sprintf("%T", model))
	return model
}

func decoded[Model any](operation string) func(Model, *http.Response, error) (Model, http.Header) {
	return func(model Model, response *http.Response, err error) (Model, http.Header) {
		if failed, isFailure := err.(masthead.GenericOpenAPIError); isFailure {
			panic(operation + ": " + string(failed.Body()) + failed.Error())
		}
		must(err)
		called[operation] = true
		counted.Decoded++
		compareModel(model, body, operation)
		return model, response.Header
	}
}

// The client knows no `application/problem+json` and leaves the body of a problem to the caller.
func refused[Model any](status int) func(Model, *http.Response, error) masthead.Problem {
	return func(_ Model, response *http.Response, err error) masthead.Problem {
		failed, isFailure := err.(masthead.GenericOpenAPIError)
		assert(isFailure && response.StatusCode == status, "not refused with ", status)
		counted.Decoded++
		if len(failed.Body()) == 0 {
			return masthead.Problem{}
		}
		return decode[masthead.Problem](failed.Body())
	}
}

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

type paged[Request, Page any] interface {
	Cursor(string) Request
	Execute() (Page, *http.Response, error)
}

// Every record of a list comes once. It returns the identifier of the first.
func walk[Request paged[Request, Page], Page, Record any](
	operation string, request Request, read func(Page) ([]Record, masthead.NullableInt64),
) (first string) {
	seen := map[string]bool{}
	for pages := 1; ; pages++ {
		page, headers := decoded[Page](operation)(request.Execute())
		records, total := read(page)
		for index := range records {
			id := any(&records[index]).(interface{ GetId() string }).GetId()
			assert(!seen[id], id)
			seen[id] = true
			if first == "" {
				first = id
			}
		}
		following := nextLink.FindStringSubmatch(headers.Get("Link"))
		if following == nil {
			assert(int64(len(seen)) == *total.Get(), operation)
			counted.Walked[strings.ToLower(strings.TrimPrefix(operation, "Get"))] = [2]int{len(seen), pages}
			return first
		}
		address, err := url.Parse(following[1])
		must(err)
		request = request.Cursor(address.Query().Get("cursor"))
	}
}

func main() {
	// The document names the address.
	configuration := masthead.NewConfiguration()
	configuration.HTTPClient = &http.Client{Transport: recorder{}}
	client := masthead.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), masthead.ContextAccessToken, os.Getenv("TOKEN"))

	readLists(ctx, client)
	accountId := writeAccount(ctx, client)
	writeContact(ctx, client, accountId)
	writeTask(ctx, client, accountId)
	readChanges(ctx, client)
	export(ctx, client)

	for operation := range called {
		counted.Operations = append(counted.Operations, operation)
	}
	must(json.NewEncoder(os.Stdout).Encode(counted))
}

func readLists(ctx context.Context, client *masthead.APIClient) {
	account := walk("GetAccounts", client.AccountsApi.GetAccounts(ctx).PageSize(200),
		func(page masthead.AccountPage) ([]masthead.Account, masthead.NullableInt64) {
			return page.Items, page.Total
		})
	_, headers := decoded[masthead.Account]("GetAccountById")(client.AccountsApi.GetAccountById(ctx, account).Execute())
	refused[masthead.Account](304)(client.AccountsApi.GetAccountById(ctx, account).IfNoneMatch(headers.Get("ETag")).Execute())

	contact := walk("GetContacts", client.ContactsApi.GetContacts(ctx).PageSize(200),
		func(page masthead.ContactPage) ([]masthead.Contact, masthead.NullableInt64) {
			return page.Items, page.Total
		})
	decoded[masthead.Contact]("GetContactById")(client.ContactsApi.GetContactById(ctx, contact).Execute())

	publication := walk("GetPublications", client.PublicationsApi.GetPublications(ctx).PageSize(3),
		func(page masthead.PublicationPage) ([]masthead.Publication, masthead.NullableInt64) {
			return page.Items, page.Total
		})
	decoded[masthead.Publication]("GetPublicationById")(client.PublicationsApi.GetPublicationById(ctx, publication).Execute())

	subscription := walk("GetSubscriptions", client.SubscriptionsApi.GetSubscriptions(ctx).PageSize(200),
		func(page masthead.SubscriptionPage) ([]masthead.Subscription, masthead.NullableInt64) {
			return page.Items, page.Total
		})
	decoded[masthead.Subscription]("GetSubscriptionById")(client.SubscriptionsApi.GetSubscriptionById(ctx, subscription).Execute())

	invoice := walk("GetInvoices", client.InvoicesApi.GetInvoices(ctx).PageSize(200),
		func(page masthead.InvoicePage) ([]masthead.Invoice, masthead.NullableInt64) {
			return page.Items, page.Total
		})
	decoded[masthead.Invoice]("GetInvoiceById")(client.InvoicesApi.GetInvoiceById(ctx, invoice).Execute())

	task := walk("GetTasks", client.TasksApi.GetTasks(ctx).PageSize(200),
		func(page masthead.TaskPage) ([]masthead.TaskRecord, masthead.NullableInt64) {
			return page.Items, page.Total
		})
	decoded[masthead.TaskRecord]("GetTaskById")(client.TasksApi.GetTaskById(ctx, task).Execute())

	// Parameters of every type.
	since := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	found, _ := decoded[masthead.InvoicePage]("GetInvoices")(client.InvoicesApi.GetInvoices(ctx).Sort("-dueDate").
		DueDateFrom("2000-01-01").ChangedFrom(since).Page(1).PageSize(3).IsOpen("true").Execute())
	assert(len(found.Items) == 3, found.Items)
	for _, one := range found.Items {
		assert(*one.IsOpen.Get() == 1 && *one.DueDate.Get() <= *found.Items[0].DueDate.Get(), one)
	}
}

func text(value string) *string { return &value }

func writeAccount(ctx context.Context, client *masthead.APIClient) string {
	input := *masthead.NewAccountInput("Gänßler & Söhne")
	input.SetCityNil()
	_, headers := decoded[masthead.AccountCreated]("CreateAccountRecord")(
		client.AccountsApi.CreateAccountRecord(ctx).AccountInput(input).Execute())
	location := headers.Get("Location")
	id := location[strings.LastIndex(location, "/")+1:]
	_, headers = decoded[masthead.Account]("GetAccountById")(client.AccountsApi.GetAccountById(ctx, id).Execute())
	tag := headers.Get("ETag")
	changes := *masthead.NewAccountChanges()
	changes.SetCity("Köln")
	changes.SetSuiteNil()
	account, _ := decoded[masthead.Account]("UpdateAccountRecord")(
		client.AccountsApi.UpdateAccountRecord(ctx, id).AccountChanges(changes).IfMatch(tag).Execute())
	assert(*account.City.Get() == "Köln" && account.Suite.Get() == nil && *account.Company.Get() == input.Company, account)
	stale := refused[masthead.Account](412)(
		client.AccountsApi.UpdateAccountRecord(ctx, id).AccountChanges(changes).IfMatch(tag).Execute())
	assert(stale.Code == "precondition_failed", stale)
	return account.AccountId
}

func writeContact(ctx context.Context, client *masthead.APIClient, accountId string) {
	input := *masthead.NewContactInput(accountId)
	input.SetFirstName("Ada")
	input.SetLastName("Lovelace")
	input.SetDoNotEmail(true)
	create := client.ContactsApi.CreateContactRecord(ctx).ContactInput(input).IdempotencyKey("go-" + accountId)
	contact, _ := decoded[masthead.Contact]("CreateContactRecord")(create.Execute())
	repeated, headers := decoded[masthead.Contact]("CreateContactRecord")(create.Execute())
	assert(repeated.Id == contact.Id && headers.Get("Idempotency-Replayed") == "true", repeated)
	assert(*contact.Name.Get() == "Ada Lovelace" && *contact.DoNotEmail.Get() && contact.Phone.Get() == nil, contact)
	input.SetLastName("King")
	input.SetDoNotEmailNil()
	contact, _ = decoded[masthead.Contact]("UpdateContactRecord")(
		client.ContactsApi.UpdateContactRecord(ctx, contact.Id).ContactInput(input).Execute())
	assert(*contact.Name.Get() == "Ada King" && contact.DoNotEmail.Get() == nil, contact)
	contact, _ = decoded[masthead.Contact]("DeleteContactRecord")(client.ContactsApi.DeleteContactRecord(ctx, contact.Id).Execute())
	assert(contact.DeletedAt.Get() != nil, contact)
	contact, _ = decoded[masthead.Contact]("RestoreContactRecord")(client.ContactsApi.RestoreContactRecord(ctx, contact.Id).Execute())
	assert(contact.DeletedAt.Get() == nil, contact)

	missing := refused[masthead.Contact](404)(client.ContactsApi.GetContactById(ctx, "00000000-0000-7000-8000-000000000000").Execute())
	assert(missing.Code == "not_found", missing)
	wrong := refused[masthead.Contact](422)(
		client.ContactsApi.CreateContactRecord(ctx).ContactInput(*masthead.NewContactInput("nowhere")).Execute())
	assert(wrong.Status == 422 && *(*wrong.Errors)[0].Pointer == "/accountId", wrong)
	assert(refused[masthead.ContactPage](400)(client.ContactsApi.GetContacts(ctx).Cursor("nonsense").Execute()).Code == "invalid_cursor")
}

func writeTask(ctx context.Context, client *masthead.APIClient, accountId string) {
	task, _ := decoded[masthead.Task]("CreateTaskRecord")(
		client.TasksApi.CreateTaskRecord(ctx).TaskInput(*masthead.NewTaskInput(accountId, "Call back", "2030-02-28")).Execute())
	done := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	changes := *masthead.NewTaskChanges()
	changes.SetDoneAt(done)
	changes.SetNotes("They were out.")
	record, _ := decoded[masthead.TaskRecord]("UpdateTaskRecord")(
		client.TasksApi.UpdateTaskRecord(ctx, task.Id).TaskChanges(changes).Execute())
	assert(record.DoneAt.Get().Equal(done) && record.DueDate == "2030-02-28", record)
}

// The records are of the list that a change names.
func readChanges(ctx context.Context, client *masthead.APIClient) {
	decoders := map[string]func([]byte){
		"accounts":      func(raw []byte) { decode[masthead.Account](raw) },
		"contacts":      func(raw []byte) { decode[masthead.Contact](raw) },
		"publications":  func(raw []byte) { decode[masthead.Publication](raw) },
		"subscriptions": func(raw []byte) { decode[masthead.Subscription](raw) },
		"invoices":      func(raw []byte) { decode[masthead.Invoice](raw) },
		"tasks":         func(raw []byte) { decode[masthead.TaskRecord](raw) },
	}
	seen, removed := map[string]bool{}, 0
	request := client.ChangesApi.ListChanges(ctx).Limit(200)
	for {
		page, _ := decoded[masthead.ChangePage]("ListChanges")(request.Execute())
		for _, change := range page.Items {
			assert((change.Record == nil) == (change.Change == "removed"), change)
			if change.Record == nil {
				removed++
				continue
			}
			seen[change.Resource] = true
			record, err := json.Marshal(change.Record)
			must(err)
			decoders[change.Resource](record)
		}
		if !page.HasMore {
			break
		}
		request = request.After(page.Cursor)
	}
	assert(len(seen) == len(decoders) && removed == 1, seen, removed)
}

func export(ctx context.Context, client *masthead.APIClient) {
	since := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	input := *masthead.NewExportInput([]string{"accounts", "invoices"})
	input.SetFormat("csv")
	input.SetFilters(masthead.ExportFilters{
		Accounts: &masthead.AccountFilters{Status: text("active")},
		Invoices: &masthead.InvoiceFilters{ChangedFrom: &since},
	})
	export, _ := decoded[masthead.Export]("CreateExport")(client.ExportsApi.CreateExport(ctx).ExportInput(input).Execute())
	for export.State == "waiting" || export.State == "running" {
		time.Sleep(200 * time.Millisecond)
		export, _ = decoded[masthead.Export]("GetExport")(client.ExportsApi.GetExport(ctx, export.Id).Execute())
	}
	assert(export.State == "done", export)
	for _, file := range export.Files {
		// The client makes no file of the body and leaves it to the caller.
		_, response, err := client.ExportsApi.DownloadExport(ctx, export.Id, file.Name).Execute()
		failed, isLeft := err.(masthead.GenericOpenAPIError)
		assert(response.StatusCode == 200 && isLeft, err)
		sum := sha256.Sum256(failed.Body())
		assert(hex.EncodeToString(sum[:]) == file.Sha256, file.Name)
		called["DownloadExport"] = true
		counted.Decoded++
	}
	exports, _ := decoded[masthead.ExportList]("GetExports")(client.ExportsApi.GetExports(ctx).Execute())
	assert(exports.Items[0].Id == export.Id, exports)
	export, _ = decoded[masthead.Export]("DeleteExport")(client.ExportsApi.DeleteExport(ctx, export.Id).Execute())
	assert(export.State == "deleted", export)
}
