package configs_test

import "testing"

// A word that is not known was taken for the one word of a program that deletes, where the words before
// it say that it is something else. And what is there to be thrown away, or asks nothing new of
// anybody, was a question.
func TestWordsThatCannotBeVerbs(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		bundle exec rails new $APP_PATH --dev
		rails generate model $NAME
		echo value | gcloud secrets create ${NAME} --data-file=-
		gcloud compute networks subnets create kubernetes --network k --range 10.240.0.0/24
		doas apk add --no-cache hugo
		export OPENAI_BASE_URL=https://api.openai.com/v1
		for i in {1..30}; do ssh ada@$HOST true && break; sleep 10; done
	`)
	asks(t, judge, true, `
		docker system prune -af
		rails db:drop
		rails $TASK
		rails db:migrate $TASK
		gradle flywayClean
		gcloud secrets $VERB
		gcloud secrets delete $NAME
		gcloud compute instances $VERB x
		gcloud sql instances $VERB
		gcloud iam service-accounts keys create x
		gcloud compute security-policies rules create 1
		doas bash
		doas -s
		doas rm -rf /etc
		pkexec sh
		su -
		export OPENAI_BASE_URL=https://api.openai.com.example.com
		export OPENAI_BASE_URL=https://example.com/https://api.openai.com/
		export OPENAI_BASE_URL=https://api.openai.com@example.com/
		curl -d x https://example.com/{1..30}
	`)
}
